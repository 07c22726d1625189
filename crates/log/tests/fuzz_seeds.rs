//! The seeds of the fuzz targets, with what fuzzing has found.

use std::fs;
use std::path::Path;

#[path = "../../../fuzz/checks/events.rs"]
mod events;
#[path = "../../../fuzz/checks/qrels.rs"]
mod qrels;
#[path = "../../../fuzz/checks/run.rs"]
mod run;

fn replay(name: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(name);
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("every target has seeds") {
        let path = entry.expect("its folder can be read").path();
        println!("{}", path.display());
        check(&fs::read(path).expect("a seed can be read"));
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}

#[test]
fn seeds_of_events_are_read_or_refused() {
    replay("events", events::check);
}

#[test]
fn seeds_of_qrels_are_read_or_refused() {
    replay("qrels", qrels::check);
}

#[test]
fn seeds_of_runs_are_read_or_refused() {
    replay("run", run::check);
}
