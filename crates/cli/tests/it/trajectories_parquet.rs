//! `midfold trajectories` over Parquet files.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use crate::trajectories::{LIMITS, json, row, text};
use crate::trajectories_killed::killed_again_and_again;
use crate::{folder, run, stdout};

/// The rows as a table, with some that cannot be used; `named` is the column of the turns.
fn write(path: &Path, named: &str, ids: std::ops::Range<usize>) -> Vec<String> {
    let turns = |n: usize| {
        let row = row(n, 1 + n * 7 % 23);
        let start = row.find('[').unwrap();
        let end = row.rfind(']').unwrap() + 1;
        if n % 50 == 17 { "[{".to_owned() } else { row[start..end].to_owned() }
    };
    let texts: Vec<String> = ids.clone().map(turns).collect();
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from_iter_values(ids.map(|n| n as i64))) as ArrayRef),
        (named, Arc::new(StringArray::from(texts.clone()))),
    ])
    .unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(130))
        .build();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    texts
}

fn read(path: &Path) -> Vec<RecordBatch> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    builder.build().unwrap().map(Result::unwrap).collect()
}

#[test]
fn columns_have_the_rows_that_lines_have() {
    let tmp = folder("trajectories-parquet");
    let inputs = [tmp.join("a.parquet"), tmp.join("b.parquet")];
    let mut texts = write(&inputs[0], "conversations", 0..300);
    texts.extend(write(&inputs[1], "conversations", 300..400));
    let lines: Vec<String> =
        texts.iter().map(|turns| format!("{{\"conversations\":{turns}}}")).collect();
    let plain = tmp.join("runs.jsonl");
    fs::write(&plain, lines.join("\n")).unwrap();
    let out = tmp.join("train.parquet");
    let [a, b] = inputs.map(|path| text(&path));
    let (output, more) = (text(&out), ["--chunk-bytes", "9000", "--count-all"]);
    stdout(&[&["trajectories", &a, &b, "-o", &output], &LIMITS[..], &more].concat(), b"");
    let beside = tmp.join("lines.jsonl");
    let wanted = [&["trajectories", &text(&plain), "-o", &text(&beside)], &LIMITS[..], &more];
    stdout(&wanted.concat(), b"");
    let wanted = fs::read_to_string(&beside).unwrap();

    let mut found = String::new();
    let mut ids = Vec::new();
    for batch in read(&out) {
        let column = |name| batch.column_by_name(name).unwrap();
        for at in 0..batch.num_rows() {
            let turns = column("conversations").as_string::<i32>().value(at);
            found += &format!("{{\"conversations\":{turns}}}\n");
            let status = column("status").as_string::<i32>().value(at);
            assert_eq!(status == "skipped", column("fold").is_null(at), "{status}");
        }
        ids.extend(column("id").as_primitive::<arrow_array::types::Int64Type>().values().to_vec());
    }
    assert!(found == wanted);
    let good = (0..400_i64).filter(|n| n % 50 != 17);
    assert_eq!(ids, good.collect::<Vec<_>>());
    let [mut one, mut two] =
        ["train", "lines"].map(|name| json(&tmp.join(format!("{name}.metrics.json"))));
    (one["processing"], two["processing"]) = (Value::Null, Value::Null);
    assert_eq!(one, two);
    let rejects = fs::read_to_string(tmp.join("train.rejects.jsonl")).unwrap();
    let last: Value = serde_json::from_str(rejects.lines().last().unwrap()).unwrap();
    assert_eq!((&last["row"], &last["code"]), (&68.into(), &"not-json".into()));
    assert!(last["file"].as_str().unwrap().ends_with("b.parquet"));
    // Its own output has the new columns already: they get other names.
    let again = tmp.join("again.parquet");
    stdout(&["trajectories", &output, "-o", &text(&again), "--target-tokens", "50k"], b"");
    assert!(read(&again)[0].column_by_name("midfold_status").is_some());
}

#[test]
fn a_killed_run_over_columns_writes_what_an_undisturbed_one_writes() {
    let tmp = folder("trajectories-parquet-kill");
    let input = tmp.join("runs.parquet");
    write(&input, "messages", 0..1_500);
    killed_again_and_again(&input, "parquet", 1_500, 4, "3000");
}

#[test]
fn files_that_are_no_rows_are_told() {
    let tmp = folder("trajectories-parquet-wrong");
    let [a, b, c] = ["a.parquet", "b.parquet", "c.parquet"].map(|name| tmp.join(name));
    write(&a, "conversations", 0..3);
    write(&b, "trajectory", 0..3);
    fs::write(&c, "PAR1 nothing else").unwrap();
    let [a, b, c] = [a, b, c].map(|path| text(&path));
    let out = tmp.join("out.parquet");
    let fails = |args: &[&str], says: &str| {
        let out = text(&out);
        let args = [&["trajectories", "-o", &out], args].concat();
        let output = run(&args, b"");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(says), "{stderr}");
    };
    fails(&[&a, &b], "different columns");
    fails(&[&b], "--column NAME");
    fails(&[&a, "--column", "turns"], "there is no column `turns`");
    fails(&[&c], "cannot be read");
    stdout(&["trajectories", &b, "-o", &text(&out), "--column", "trajectory"], b"");
    assert_eq!(read(&out)[0].num_rows(), 3);
    // No rows are a file, too.
    write(Path::new(&a), "conversations", 0..0);
    stdout(&["trajectories", &a, "-o", &text(&out)], b"");
    assert!(read(&out).is_empty());
}
