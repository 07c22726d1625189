"""What all results share: tables, text, HTML, data frames, notes and ids."""
