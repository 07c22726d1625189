//! Judgments: the grades of each query's documents.

pub mod attributes;
pub mod axis;
pub mod by_subtopic;
pub mod by_text;
pub mod duplicates;
pub mod grades;
pub mod judgments;
pub mod numbered;
pub mod subtopics;
