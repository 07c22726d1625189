"""The tables of the pages are what the package says now; `make format` writes them."""

from __future__ import annotations

import pytest

from dev.tables import PAGES, PLACE, ROOT, fill_in

TEXTS = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES}


@pytest.mark.parametrize("page", [page for page, text in TEXTS.items() if PLACE.search(text)])
def test_the_tables_of_a_page_are_current(page: str) -> None:
    is_current = fill_in(TEXTS[page]) == TEXTS[page]
    assert is_current, f"the tables of {page} are not current: run make format"


def test_every_comment_of_a_table_names_one() -> None:
    for page, text in TEXTS.items():
        shown = text.count("<!-- table:") + text.count("<!-- source:")
        assert shown == len(PLACE.findall(text)) == text.count("<!-- end -->"), page


def test_every_row_of_a_table_has_the_cells_of_its_head() -> None:
    for page, text in TEXTS.items():
        for place in PLACE.finditer(text):
            cells = 0
            for line in place[0].splitlines():
                found = line.replace("\\|", "").count("|") if line.startswith("|") else 0
                assert found in {0, cells} or cells == 0, f"{page}: {line}"
                cells = found


def test_a_new_comment_gets_a_table_and_an_end_and_an_old_one_a_new_table() -> None:
    new = "before\n\n<!-- table: policy missing -->\n\nTested. <!-- table: version catboost -->\n"
    filled = fill_in(new)
    first, second = PLACE.finditer(filled)
    assert filled.startswith("before\n\n<!-- table: policy missing -->\n\n| value | meaning |\n")
    assert first[0].endswith(" |\n\n<!-- end -->")
    assert second[0].startswith("<!-- table: version catboost -->Tested with catboost ")
    assert filled.endswith(".<!-- end -->\n")
    assert fill_in(filled) == filled
    assert fill_in(filled.replace("with catboost", "with an older catboost")) == filled


def test_a_comment_that_names_no_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected a table that the package has, found nothing "):
        fill_in("<!-- table: nothing -->")
