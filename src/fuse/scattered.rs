//! Fuses runs whose rows come in any order: they are held, or partitioned by query in files where they
//! exceed memory.

use super::chunk::Chunk;
use super::lines::Lines;
use super::output::{Fusion, Summary, fuse_into};
use super::pieces::Sink;
use super::runs::{Given, ask_all};
use super::turns::Turn;
use crate::error::{Error, Kind, Result};
use crate::memory::{Vec, vec};
use crate::notes::Notes;
use crate::rank::lists::Lists;
use crate::rank::run::{Run, no_rows};
use crate::rank::spilled_lists::SpilledLists;
use crate::table::queue::Room;
use crate::text::list::List;
use crate::watch::Watch;

/// The rows of runs, which are added one run after another.
pub struct ScatteredRuns<'a> {
    room: Room<'a>,
    /// How many runs there will be.
    runs: usize,
    held: Vec<Run>,
    /// How many bytes of memory all but the last of them take.
    held_size: usize,
    spilled: Option<SpilledLists>,
    /// By run, how many queries it has.
    counts: Vec<usize>,
    /// By query on disk, how many runs were begun when it came last.
    last_seen: Vec<usize>,
}

impl<'a> ScatteredRuns<'a> {
    /// So many runs without rows.
    #[must_use]
    pub fn new(runs: usize, room: Room<'a>) -> Self {
        Self {
            room,
            runs,
            held: vec![],
            held_size: 0,
            spilled: None,
            counts: vec![],
            last_seen: vec![],
        }
    }

    /// Begins with the rows of another run.
    pub fn begin(&mut self) {
        self.held_size += self.held.last().map_or(0, Run::size);
        self.held.push(Run::default());
        self.counts.push(0);
    }

    /// Adds adjacent rows of one query, whose lines follow `lines_before` others.
    ///
    /// # Errors
    /// Where a file can't be written.
    pub fn add(&mut self, list: &List<'_>, lines_before: u64) -> Result<()> {
        if self.spilled.is_some() {
            return self.add_spilled(list, lines_before);
        }
        let Some(last) = self.held.last_mut() else { return Ok(()) };
        last.add(list, lines_before);
        if let Some(count) = self.counts.last_mut() {
            *count = last.queries().len();
        }
        let Some(room) = self.room.spill(self.held_size + last.size())? else { return Ok(()) };
        self.spilled = Some(SpilledLists::new(room.clone(), self.runs));
        self.counts.clear();
        for run in std::mem::take(&mut self.held) {
            self.counts.push(0);
            run.each_stretch(|list| self.add_spilled(list, 0))?;
        }
        Ok(())
    }

    /// Adds a run in memory.
    ///
    /// # Errors
    /// Where a document occurs twice in a list, or a file can't be written.
    pub fn add_lists(&mut self, lists: &dyn Lists) -> Result<()> {
        self.begin();
        for place in 0..lists.len() {
            let chunk = Chunk::of_list(lists, place)?;
            self.add(&chunk.list(0), 0)?;
        }
        self.end()
    }

    fn add_spilled(&mut self, list: &List<'_>, lines_before: u64) -> Result<()> {
        let Some(spilled) = &mut self.spilled else { return Ok(()) };
        let begun = self.counts.len();
        let query = spilled.add(begun - 1, list, lines_before)?;
        if query == self.last_seen.len() {
            self.last_seen.push(0);
        }
        if self.last_seen[query] != begun {
            self.last_seen[query] = begun;
            self.counts[begun - 1] += 1;
        }
        Ok(())
    }

    /// Ends the last run.
    ///
    /// # Errors
    /// Where it has no queries.
    pub fn end(&self) -> Result<()> {
        if self.counts.last() == Some(&0) { Err(no_rows()) } else { Ok(()) }
    }

    /// How many bytes were written to files.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.spilled.as_ref().map_or(0, SpilledLists::written)
    }

    /// Fuses all runs, and writes the fused one; queries are in the order in which they first occur.
    ///
    /// # Errors
    /// Where a document occurs twice in a list, scores do not fit the scale, it is stopped, or a file
    /// can't be read or written. Of several mistakes it is that of the first query.
    pub fn fuse(
        mut self,
        fusion: Fusion<'_>,
        (tag, sink): (&str, Sink<'_>),
        watch: Watch<'_>,
    ) -> Result<Summary> {
        let of_runs = std::mem::take(&mut self.counts);
        let held = std::mem::take(&mut self.held);
        let mut lines = Lines::new(tag, sink, &mut self.room);
        let mut summary = match self.spilled {
            Some(spilled) => fuse_spilled(spilled, fusion, &mut lines, watch)?,
            None => fuse_held(held, fusion, &mut lines, watch)?,
        };
        summary.of_runs = of_runs;
        summary.written += lines.finish()?;
        Ok(summary)
    }
}

fn fuse_held(
    held: Vec<Run>,
    fusion: Fusion<'_>,
    lines: &mut Lines<'_, '_>,
    watch: Watch<'_>,
) -> Result<Summary> {
    let held = held.into_iter().map(|run| run.finish(Notes::default()));
    let held: Vec<Run> = held.collect::<Result<_>>()?;
    let given = held.iter().zip(fusion.names).map(|(lists, name)| Given { lists, name });
    let given: Vec<Given<'_>> = given.collect();
    let queries = ask_all(&given);
    let asked = queries.asked();
    let turns: Vec<Turn> = (0..asked.len()).map(|at| (0, at)).collect();
    let documents = fuse_into(lines, (&asked, &turns), fusion, watch);
    let documents = documents.map_err(|(_, error)| error)?;
    Ok(Summary { queries: asked.len(), documents, ..Summary::default() })
}

fn fuse_spilled(
    mut spilled: SpilledLists,
    fusion: Fusion<'_>,
    lines: &mut Lines<'_, '_>,
    watch: Watch<'_>,
) -> Result<Summary> {
    let mut documents = 0;
    // All partitions are looked at, for the first mistake may be in the last one.
    let mut mistake: Option<(Turn, Error)> = None;
    while let Some(runs) = spilled.take_next()? {
        let there = runs.iter().zip(fusion.names).enumerate();
        let given = there.filter_map(|(number, (run, name))| {
            let lists = run.as_ref()?;
            Some((number, Given { lists, name }))
        });
        let (numbers, given): (Vec<usize>, Vec<Given<'_>>) = given.unzip();
        let queries = ask_all(&given);
        let mut asked = queries.asked();
        let mut turns: Vec<Turn> = Vec::with_capacity(asked.len());
        for query in &mut asked {
            let mut places = vec![None; fusion.names.len()];
            numbers.iter().zip(&query.places).for_each(|(&run, place)| places[run] = *place);
            query.places = places;
            let number = spilled.queries().find(query.name);
            turns.push((0, number.unwrap_or(usize::MAX)));
        }
        match fuse_into(lines, (&asked, &turns), fusion, watch) {
            Ok(count) => documents += count,
            Err((_, error)) if error.kind() == Kind::Interrupted => return Err(error),
            Err((at, error)) if mistake.as_ref().is_none_or(|(first, _)| turns[at] < *first) => {
                mistake = Some((turns[at], error));
            }
            Err(_) => {}
        }
    }
    if let Some((_, error)) = mistake {
        return Err(error);
    }
    let (queries, written) = (spilled.queries().texts().len(), spilled.written());
    Ok(Summary { queries, documents, written, ..Summary::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuse::choices::{Choices, Method, Scale};
    use crate::fuse::fuse;
    use crate::fuse::grouped::{fuse_to_lines, fuse_to_run};
    use crate::fuse::sources::{Held, Source, Text};
    use crate::memory::vec;
    use crate::policy::{Duplicates, ScoreType, Ties};
    use crate::rank::run::each_list;
    use crate::table::queue::Spill;
    use crate::text::blocks::Blocks;
    use crate::text::source::{Encoding, Input, Origin};
    use proptest::prelude::*;

    fn input(text: &str) -> Input {
        Input { origin: Origin::Bytes(text.as_bytes().into()), encoding: Encoding::Utf8 }
    }

    fn room(memory: u64) -> Room<'static> {
        let folder = std::env::temp_dir();
        let spill = move || Ok(Spill { folder: folder.clone(), memory, expected: None });
        Room::new(0, Box::new(spill))
    }

    fn read(text: &str) -> Result<Run> {
        Run::read(&input(text), ScoreType::Float64, Duplicates::Error, &mut |_| Ok(()))
    }

    /// What all ways are held against: runs in memory, fused in memory.
    fn in_memory(texts: &[String], choices: &Choices) -> Result<(String, usize)> {
        let runs: Vec<Run> = texts.iter().map(|text| read(text)).collect::<Result<_>>()?;
        let given: Vec<Given<'_>> =
            runs.iter().map(|lists| Given { lists, name: "<bytes>" }).collect();
        let fused = fuse(&given, choices, 1, &mut |_| Ok(()))?;
        let mut out = Vec::new();
        fused.write_lines(0..fused.queries().len(), "tag", &mut out);
        Ok((String::from_utf8(out.into_std()).unwrap(), fused.queries().len()))
    }

    /// The lines and the summary of a way of writing, with the bounds that all of them have.
    fn written(
        texts: &[String],
        choices: &Choices,
        write: impl FnOnce(Fusion<'_>, (&str, Sink<'_>)) -> Result<Option<Summary>>,
    ) -> Result<Option<(String, usize)>> {
        let names = vec!["<bytes>"; texts.len()];
        let fusion = Fusion { names: &names, choices, threads: 3 };
        let mut out = Vec::new();
        let sink: Sink<'_> = &mut |text| {
            out.extend_from_slice(text);
            Ok(())
        };
        let summary = write(fusion, ("tag", sink))?;
        let text = String::from_utf8(out.into_std()).unwrap();
        Ok(summary.map(|summary| {
            assert_eq!(summary.documents, text.lines().count() as u64);
            (text, summary.queries)
        }))
    }

    fn scattered(texts: &[String], choices: &Choices, memory: u64) -> Result<(String, usize)> {
        let mut runs = ScatteredRuns::new(texts.len(), room(memory));
        for text in texts {
            runs.begin();
            let watch: Watch<'_> = &mut |_| Ok(());
            let add = |list: &List<'_>, before| runs.add(list, before);
            each_list(&input(text), ScoreType::Float64, Duplicates::Error, watch, add)?;
            runs.end().map_err(|error| error.file("<bytes>"))?;
        }
        let write = |fusion: Fusion<'_>, sink: (&str, Sink<'_>)| {
            runs.fuse(fusion, sink, &mut |_| Ok(())).map(Some)
        };
        written(texts, choices, write).map(Option::unwrap)
    }

    fn grouped(
        texts: &[String],
        choices: &Choices,
        (memory, size): (u64, usize),
    ) -> Option<(String, usize)> {
        let first = read(&texts[0]).ok()?;
        let mut sources = open(texts, &first, size);
        let write = |fusion: Fusion<'_>, sink: (&str, Sink<'_>)| {
            let rooms = (room(memory), room(memory));
            fuse_to_lines(&mut sources, fusion, sink, rooms, &mut |_| Ok(()))
        };
        let found = written(texts, choices, write).unwrap();
        let names = vec!["<bytes>"; texts.len()];
        let fusion = Fusion { names: &names, choices, threads: 2 };
        let mut sources = open(texts, &first, size);
        let held = fuse_to_run(&mut sources, fusion, room(memory), &mut |_| Ok(())).unwrap();
        let held = held.map(|(run, summary)| {
            let mut out = Vec::new();
            run.write_lines(0..summary.queries, "tag", &mut out);
            (String::from_utf8(out.into_std()).unwrap(), summary.queries)
        });
        assert_eq!(found, held);
        found
    }

    /// The first run in memory, and the others as text.
    fn open<'a>(texts: &[String], first: &'a Run, size: usize) -> Vec<Box<dyn Source + 'a>> {
        let mut sources: Vec<Box<dyn Source + 'a>> = vec![];
        for (run, text) in texts.iter().enumerate() {
            let watch: Watch<'_> = &mut |_| Ok(());
            if run == 0 {
                sources.push(Box::new(Held::new(first)));
                continue;
            }
            let blocks = Blocks::with_size(input(text).open(watch).unwrap(), size, watch).unwrap();
            sources.push(Box::new(Text::of_blocks(blocks, ScoreType::Float64, 2)));
        }
        sources
    }

    /// Lines of a run, most of them well-formed; queries may come back.
    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            90 => (0u8..9, 0u16..300, 0u8..5).prop_map(|(query, doc, score)| {
                format!("q{query} Q0 d{doc} 1 {score} tag\n")
            }),
            1 => Just("q1 Q0 d1 1 nan tag\n".to_owned()),
            1 => Just("q2 Q0 d2 1 -1 tag\n".to_owned()),
        ];
        (prop::collection::vec(line, 0..40), 0u8..9).prop_map(|(mut lines, turn)| {
            // Runs have their queries in one order or another, and seldom in none.
            let place = |line: &String| (line.as_bytes()[1] + turn) % 9;
            if turn != 1 {
                lines.sort_by_key(place);
            }
            lines.concat()
        })
    }

    fn choices() -> impl Strategy<Value = Choices> {
        use Method::{Borda, Condorcet, Max, Median, Mnz, ReciprocalRank, Sum};
        let method = prop::sample::select(std::vec![
            Sum,
            Mnz,
            Max,
            Median,
            ReciprocalRank(60.0),
            Borda,
            Condorcet
        ]);
        let scale =
            prop::sample::select(std::vec![Scale::MinMax, Scale::Max, Scale::Zmuv, Scale::Borda]);
        let ties = prop::sample::select(std::vec![Ties::DocId, Ties::DocIdAscending, Ties::Input]);
        let depth = prop_oneof![Just(usize::MAX), 1usize..4];
        (method, scale, ties, depth).prop_map(|(method, scale, ties, depth)| Choices {
            method,
            scale,
            weights: vec![1.0, 0.5, 0.25],
            ties,
            depth,
        })
    }

    proptest! {
        #[test]
        fn all_ways_write_the_same_lines_and_find_the_same_mistakes(
            texts in prop::collection::vec(text(), 3),
            choices in choices(),
            memory in 4_000u64..40_000,
            size in 16usize..600,
        ) {
            let texts: Vec<String> = texts.into_iter().collect();
            let expected = in_memory(&texts, &choices);
            prop_assert_eq!(&scattered(&texts, &choices, memory), &expected);
            // Where it gives up, runs are read in another way.
            if let Some(found) = grouped(&texts, &choices, (memory, size)) {
                prop_assert_eq!(Ok(found), expected);
            }
        }
    }

    #[test]
    fn runs_whose_queries_come_in_one_order_take_little_memory() {
        let choices = Choices {
            method: Method::Sum,
            scale: Scale::MinMax,
            weights: vec![1.0, 1.0],
            ties: Ties::DocId,
            depth: usize::MAX,
        };
        let line = |query: usize, doc: usize| format!("q{query} Q0 d{doc} 0 {doc} t\n");
        let run = |docs: usize, has: &dyn Fn(usize) -> bool| {
            let lines = (0..4000 * docs).filter(|row| has(row / docs));
            lines.map(|row| line(row / docs, row % docs)).collect::<String>()
        };
        // A run with short lists doesn't run ahead of one with long lists.
        let texts: Vec<String> = vec![run(9, &|_| true), run(3, &|query| query != 7)];
        let expected = in_memory(&texts, &choices).unwrap();
        // An eighth is for what waits: far less than the 2 MB of the runs.
        let found = grouped(&texts, &choices, (8 * 400_000, 1 << 12));
        assert!(found == Some(expected), "other lines, or too much memory");
    }
}
