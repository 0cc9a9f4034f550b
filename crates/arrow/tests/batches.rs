//! Batches of random rows, in every form that a column of them has.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int64Array, LargeListArray, LargeStringArray, ListArray,
    RecordBatch, StringArray, StringViewArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields};
use midfold_arrow::{BatchError, BatchOptions, COLUMNS, compress, compress_batch, output_schema};
use midfold_core::trajectory::SummaryPlacement;
use midfold_formats::trajectory::{self, Bytes4, Trainer};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A turn, as any of the forms has it.
#[derive(Clone, Debug)]
struct Turn {
    role: &'static str,
    text: Option<String>,
    /// Ids and arguments of calls.
    calls: Vec<(String, String)>,
    answers: Option<String>,
}

/// How turns are written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    ShareGpt,
    Messages,
}

impl Turn {
    fn json(&self, shape: Shape) -> String {
        let text = self.text.as_ref().map(|text| json!(text).to_string());
        if shape == Shape::ShareGpt {
            return format!(r#"{{"from":"{}","value":{}}}"#, self.role, text.unwrap_or_default());
        }
        let mut out = format!(r#"{{"role":"{}""#, self.role);
        if let Some(text) = text {
            out += &format!(r#","content":{text}"#);
        }
        if !self.calls.is_empty() {
            let calls = self.calls.iter().map(|(id, arguments)| {
                format!(
                    r#"{{"id":"{id}","type":"function","function":{{"name":"bash","arguments":{}}}}}"#,
                    json!(arguments)
                )
            });
            out += &format!(r#","tool_calls":[{}]"#, calls.collect::<Vec<_>>().join(","));
        }
        if let Some(id) = &self.answers {
            out += &format!(r#","tool_call_id":"{id}""#);
        }
        out + "}"
    }
}

/// A run of an agent: `steps` calls with their results, of these many bytes each.
fn row(shape: Shape, steps: &[(u16, char)]) -> Vec<Turn> {
    let say = |role, text: String| Turn { role, text: Some(text), calls: vec![], answers: None };
    let names = match shape {
        Shape::ShareGpt => ["system", "human", "gpt", "tool"],
        Shape::Messages => ["system", "user", "assistant", "tool"],
    };
    let [system, user, assistant, tool] = names;
    let mut turns = vec![say(system, "Be \"brief\".\n".into()), say(user, "Fix src/a.rs".into())];
    for (at, &(size, letter)) in steps.iter().enumerate() {
        let output =
            format!("line {at} of /src/{letter}.rs: {}", letter.to_string().repeat(size.into()));
        if shape == Shape::ShareGpt {
            turns.push(say(assistant, format!("Step {at}\n<tool_call>\n{{\"name\": \"bash\", \"arguments\": {{}}}}\n</tool_call>")));
            turns.push(say(tool, format!("<tool_response>\n{output}\n</tool_response>")));
        } else {
            let id = format!("call_{at}");
            let calls = vec![(id.clone(), format!("{{\"command\": \"cat {letter}\"}}"))];
            turns.push(Turn { role: assistant, text: None, calls, answers: None });
            turns.push(Turn { answers: Some(id), ..say(tool, output) });
        }
    }
    turns.push(say(assistant, "Done.".into()));
    turns
}

fn list_json(shape: Shape, turns: &[Turn]) -> String {
    let turns: Vec<String> = turns.iter().map(|turn| turn.json(shape)).collect();
    format!("[{}]", turns.join(","))
}

fn name(shape: Shape) -> &'static str {
    if shape == Shape::ShareGpt { "conversations" } else { "messages" }
}

/// Structs with all members in all turns, as Arrow has them.
fn structs(shape: Shape, turns: &[Turn]) -> StructArray {
    let texts = |of: &dyn Fn(&Turn) -> Option<String>| {
        Arc::new(turns.iter().map(of).collect::<StringArray>()) as ArrayRef
    };
    let utf8 = |name| Field::new(name, DataType::Utf8, true);
    let roles = texts(&|turn| Some(turn.role.into()));
    let said = texts(&|turn| turn.text.clone());
    if shape == Shape::ShareGpt {
        // What other rows have and these do not, of a type that is not null.
        let weight = Int64Array::from(vec![7; turns.len()]);
        let fields =
            vec![utf8("from"), utf8("value"), Field::new("weight", DataType::Int64, false)];
        return StructArray::new(fields.into(), vec![roles, said, Arc::new(weight)], None);
    }
    let calls: Vec<&(String, String)> = turns.iter().flat_map(|turn| &turn.calls).collect();
    let column = |of: &dyn Fn(&(String, String)) -> String| {
        Arc::new(calls.iter().map(|call| Some(of(call))).collect::<StringArray>()) as ArrayRef
    };
    let inner = Fields::from(vec![utf8("name"), utf8("arguments")]);
    let function = StructArray::new(
        inner.clone(),
        vec![column(&|_| "bash".into()), column(&|call| call.1.clone())],
        None,
    );
    let call = Fields::from(vec![
        utf8("id"),
        utf8("type"),
        Field::new("function", DataType::Struct(inner), true),
    ]);
    let call_structs = StructArray::new(
        call.clone(),
        vec![column(&|call| call.0.clone()), column(&|_| "function".into()), Arc::new(function)],
        None,
    );
    let item = Arc::new(Field::new("item", DataType::Struct(call), true));
    let lists = ListArray::new(
        Arc::clone(&item),
        OffsetBuffer::from_lengths(turns.iter().map(|turn| turn.calls.len())),
        Arc::new(call_structs),
        Some(turns.iter().map(|turn| !turn.calls.is_empty()).collect::<NullBuffer>()),
    );
    let fields = vec![
        utf8("role"),
        utf8("content"),
        Field::new("tool_calls", DataType::List(item), true),
        utf8("tool_call_id"),
    ];
    let answers = texts(&|turn| turn.answers.clone());
    StructArray::new(fields.into(), vec![roles, said, Arc::new(lists), answers], None)
}

/// `None` is a row that is null.
fn nested(shape: Shape, rows: &[Option<Vec<Turn>>], large: bool) -> ArrayRef {
    let turns: Vec<Turn> = rows.iter().flatten().flatten().cloned().collect();
    let structs = structs(shape, &turns);
    let item = Arc::new(Field::new("item", structs.data_type().clone(), true));
    let lengths = || rows.iter().map(|row| row.as_ref().map_or(0, Vec::len));
    let nulls: NullBuffer = rows.iter().map(Option::is_some).collect();
    if large {
        let offsets = OffsetBuffer::<i64>::from_lengths(lengths());
        return Arc::new(LargeListArray::new(item, offsets, Arc::new(structs), Some(nulls)));
    }
    let offsets = OffsetBuffer::<i32>::from_lengths(lengths());
    Arc::new(ListArray::new(item, offsets, Arc::new(structs), Some(nulls)))
}

fn texts(kind: usize, rows: &[Option<String>]) -> ArrayRef {
    let rows = rows.iter().map(Option::as_deref);
    match kind {
        0 => Arc::new(rows.collect::<StringArray>()),
        1 => Arc::new(rows.collect::<LargeStringArray>()),
        _ => Arc::new(rows.collect::<StringViewArray>()),
    }
}

fn text_at(array: &dyn Array, at: usize) -> Option<&str> {
    array.is_valid(at).then(|| match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(at),
        DataType::LargeUtf8 => array.as_string::<i64>().value(at),
        _ => array.as_string_view().value(at),
    })
}

/// A list of structs as JSON, without nulls.
fn value_at(array: &dyn Array, at: usize) -> Value {
    if array.is_null(at) {
        return Value::Null;
    }
    let list = |values: ArrayRef| (0..values.len()).map(|at| value_at(&values, at)).collect();
    match array.data_type() {
        DataType::List(_) => list(array.as_list::<i32>().value(at)),
        DataType::LargeList(_) => list(array.as_list::<i64>().value(at)),
        DataType::Struct(fields) => {
            let members = fields.iter().zip(array.as_struct().columns());
            let members = members.filter(|(field, _)| field.name() != "weight");
            let values = members.map(|(field, column)| (field.name(), value_at(column, at)));
            let values = values.filter(|(_, value)| !value.is_null());
            values.map(|(name, value)| (name.clone(), value)).collect()
        }
        _ => text_at(array, at).unwrap().into(),
    }
}

fn options(placement: SummaryPlacement) -> BatchOptions {
    let mut options = BatchOptions::new(Arc::new(Bytes4));
    let limits = &mut options.settings.limits;
    (limits.target, limits.summary, limits.placement) = (600, 150, placement);
    options.settings.count_all = true;
    options
}

fn added(batch: &RecordBatch) -> Vec<Vec<Value>> {
    let column = |name| batch.column_by_name(name).unwrap();
    (0..batch.num_rows())
        .map(|at| {
            let [before, after] = ["tokens_before", "tokens_after"].map(|name| {
                let column = column(name).as_primitive::<arrow_array::types::Int64Type>();
                column.is_valid(at).then(|| column.value(at))
            });
            let fold = text_at(column("fold"), at);
            let fold = fold.map_or(Value::Null, |fold| serde_json::from_str(fold).unwrap());
            vec![json!(text_at(column("status"), at).unwrap()), json!(before), json!(after), fold]
        })
        .collect()
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![Just(Shape::ShareGpt), Just(Shape::Messages)]
}

fn steps() -> impl Strategy<Value = Vec<(u16, char)>> {
    prop::collection::vec(
        (0..600_u16, prop::char::ranges(vec!['a'..='e', 'é'..='ë'].into())),
        0..12,
    )
}

type Rows = Vec<Option<Vec<(u16, char)>>>;

fn batches() -> impl Strategy<Value = (Shape, Rows, SummaryPlacement)> {
    let placement = prop::sample::select(&SummaryPlacement::ALL);
    (shapes(), prop::collection::vec(prop::option::weighted(0.9, steps()), 0..9), placement)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    /// One text column, three types of it, and the lines that the command reads: the same bytes.
    #[test]
    fn text_is_what_lines_are((shape, rows, placement) in batches()) {
        let options = options(placement);
        let mut rows: Vec<Option<String>> = rows
            .into_iter()
            .map(|steps| Some(list_json(shape, &row(shape, &steps?))))
            .collect();
        rows.insert(rows.len() / 2, Some("[{}".into()));
        rows.push(Some("[],\"tools\":[]".into()));
        let tools = StringArray::from(vec![Some("[{\"name\":\"bash\"}]"); rows.len()]);
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows.len() as i64));
        let mut seen = None;
        for kind in 0..3 {
            let batch = RecordBatch::try_from_iter_with_nullable([
                ("id", Arc::clone(&ids), false),
                (name(shape), texts(kind, &rows), true),
                ("tools", Arc::new(tools.clone()) as ArrayRef, true),
            ])
            .unwrap();
            let done = compress_batch(&batch, &options).unwrap();
            prop_assert_eq!(done.schema(), output_schema(batch.schema_ref(), &options).unwrap());
            prop_assert!(Arc::ptr_eq(done.column(0), &ids));
            prop_assert!(Arc::ptr_eq(done.column(2), batch.column(2)));
            prop_assert_eq!(done.num_rows(), rows.len());
            for (at, text) in rows.iter().enumerate() {
                let new = text_at(done.column(1), at);
                let status = added(&done)[at][0].clone();
                let Some(text) = text else {
                    prop_assert_eq!((new, status), (None, json!("skipped")));
                    continue;
                };
                let line = format!(r#"{{"tools":[{{"name":"bash"}}],"{}":{text}}}"#, name(shape));
                match trajectory::compress(line.as_bytes(), &options.settings, &Bytes4) {
                    Ok(found) if text.ends_with("\":[]") => {
                        prop_assert!(found.bytes.is_none());
                        prop_assert_eq!((new, status), (Some(&**text), json!("error")));
                    }
                    Ok(found) => {
                        let line = found.bytes.map_or(line, |new| String::from_utf8(new).unwrap());
                        prop_assert_eq!(format!(r#"{{"tools":[{{"name":"bash"}}],"{}":{}}}"#, name(shape), new.unwrap()), line);
                        prop_assert_eq!(&added(&done)[at][2], &json!(found.metrics.compressed_tokens));
                    }
                    Err(error) => {
                        prop_assert_eq!((new, status), (Some(&**text), json!("error")));
                        prop_assert_eq!(&added(&done)[at][3]["error"], error.code());
                    }
                }
            }
            prop_assert_eq!(seen.get_or_insert(added(&done)), &added(&done));
        }
    }

    /// Structs: the same turns as from text, in columns of the same type. What stays is equal.
    #[test]
    fn structs_are_what_text_is((shape, rows, placement) in batches(), large: bool, skip in 0..3_usize) {
        let options = options(placement);
        let rows: Vec<Option<Vec<Turn>>> =
            rows.into_iter().map(|steps| Some(row(shape, &steps?))).collect();
        let json: Vec<Option<String>> =
            rows.iter().map(|row| Some(list_json(shape, row.as_ref()?))).collect();
        let skip = skip.min(rows.len());
        let batch = |column: ArrayRef| {
            let whole = RecordBatch::try_from_iter_with_nullable([(name(shape), column, true)]).unwrap();
            whole.slice(skip, rows.len() - skip)
        };
        let (lists, text) = (batch(nested(shape, &rows, large)), batch(texts(0, &json)));
        let (new, wanted) = (compress_batch(&lists, &options).unwrap(), compress_batch(&text, &options).unwrap());
        prop_assert_eq!(added(&new), added(&wanted));
        prop_assert_eq!(new.column(0).data_type(), lists.column(0).data_type());
        new.column(0).to_data().validate_full().unwrap();
        let mut changed = false;
        for at in 0..new.num_rows() {
            let status = added(&new)[at][0].clone();
            if added(&new)[at][3].is_null() {
                prop_assert_eq!(&new.column(0).slice(at, 1), &lists.column(0).slice(at, 1));
            }
            changed |= status == "compressed";
            let wanted = text_at(wanted.column(0), at).map_or(Value::Null, |text| serde_json::from_str(text).unwrap());
            prop_assert_eq!(value_at(new.column(0), at), wanted);
        }
        if shape == Shape::ShareGpt {
            // Where null is not allowed, a summary's own turn has the empty value.
            let weight = |batch: &RecordBatch, at| {
                let turns = if large {
                    batch.column(0).as_list::<i64>().value(at)
                } else {
                    batch.column(0).as_list::<i32>().value(at)
                };
                let weights = turns.as_struct().column_by_name("weight").unwrap();
                weights.as_primitive::<arrow_array::types::Int64Type>().values().to_vec()
            };
            for at in (0..new.num_rows()).filter(|&at| new.column(0).is_valid(at)) {
                let own = added(&new)[at][3]["summary"].as_u64();
                let wanted = |(turn, weight): (usize, i64)| weight == if own == Some(turn as u64) { 0 } else { 7 };
                prop_assert!(weight(&new, at).into_iter().enumerate().all(wanted));
            }
        }
        prop_assert_eq!(Arc::ptr_eq(new.column(0), lists.column(0)), !changed && added(&new).iter().all(|row| row[3].is_null()));
    }
}

fn long(shape: Shape) -> Vec<Turn> {
    row(shape, &[(500, 'a'); 12])
}

#[test]
fn bad_rows_pass_beside_good_ones() {
    let good = list_json(Shape::ShareGpt, &long(Shape::ShareGpt));
    let bad = ["", "nonsense", "[1]", "{\"conversations\": 5}", "[{\"from\":\"gpt\"}]", "[\u{0}]"];
    let rows: Vec<Option<String>> =
        bad.iter().flat_map(|bad| [Some((*bad).to_owned()), Some(good.clone())]).collect();
    let batch = RecordBatch::try_from_iter([("messages", texts(0, &rows))]).unwrap();
    let done = compress_batch(&batch, &options(SummaryPlacement::HumanTurn)).unwrap();
    for (at, row) in added(&done).iter().enumerate() {
        assert_eq!(row[0], if at % 2 == 0 { "error" } else { "compressed" }, "{at}");
        assert!(at % 2 == 1 || text_at(done.column(0), at) == rows[at].as_deref());
        assert!(at % 2 == 1 || row[3]["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
    }
    // What a trainer would drop is told, and passes all the same: whoever reads the batch decides.
    let mut options = options(SummaryPlacement::HumanTurn);
    options.settings.trainer = Some(Trainer::LlamaFactory);
    let done = compress_batch(&batch, &options).unwrap();
    assert_eq!(added(&done)[1][3]["error"], "alternation");
    assert_eq!(text_at(done.column(0), 1), Some(&*good));
}

#[test]
fn whole_rows_are_lines() {
    let turns = list_json(Shape::ShareGpt, &long(Shape::ShareGpt));
    let line = format!(r#"{{"id": 1, "conversations": {turns}, "mask": [{}1]}}"#, "0,".repeat(26));
    let options = options(SummaryPlacement::MergeIntoPreviousObservation);
    let wanted = trajectory::compress(line.as_bytes(), &options.settings, &Bytes4).unwrap();
    for column in ["line", "text"] {
        let rows = texts(2, &[Some("{}".into()), Some(line.clone())]);
        let batch = RecordBatch::try_from_iter([
            ("n", Arc::new(BooleanArray::from(vec![true; 2])) as ArrayRef),
            (column, rows),
        ])
        .unwrap();
        let done = compress_batch(&batch, &options).unwrap();
        assert_eq!(text_at(done.column(1), 0), Some("{}"));
        assert_eq!(
            text_at(done.column(1), 1).unwrap().as_bytes(),
            wanted.bytes.as_deref().unwrap()
        );
    }
}

#[test]
fn lists_beside_the_turns_follow_them() {
    let shape = Shape::Messages;
    let (short, long) = (row(shape, &[(5, 'a')]), long(shape));
    let rows = [Some(short), Some(long.clone()), None, Some(long)];
    let lengths = [5, 27, 0, 26];
    let marks: Vec<bool> =
        lengths.iter().flat_map(|&length| (0..length).map(|at| at % 2 == 0)).collect();
    let mask = ListArray::new(
        Arc::new(Field::new("item", DataType::Boolean, false)),
        OffsetBuffer::from_lengths(lengths),
        Arc::new(BooleanArray::from(marks)),
        Some(NullBuffer::from(vec![true, true, false, true])),
    );
    let mask: ArrayRef = Arc::new(mask);
    for placement in [SummaryPlacement::HumanTurn, SummaryPlacement::MergeIntoPreviousObservation] {
        let batch = RecordBatch::try_from_iter([
            ("messages", nested(shape, &rows, false)),
            ("loss_mask", Arc::clone(&mask)),
            ("other", Arc::clone(&mask)),
        ])
        .unwrap();
        let mut options = options(placement);
        options.settings.trainer =
            Some(Trainer::Trl).filter(|_| placement != SummaryPlacement::HumanTurn);
        let done = compress(&batch, &options).unwrap();
        assert!(Arc::ptr_eq(done.batch.column(2), &mask));
        let new = done.batch.column(1).as_list::<i32>();
        assert_eq!(new.value(0).len(), 5);
        assert!(new.is_null(2));
        // A list of another length is about something else.
        assert_eq!(&new.value(3), &mask.as_list::<i32>().value(3));
        let turns = done.batch.column(0).as_list::<i32>().value(1).len();
        let new = new.value(1);
        let fold: Value = serde_json::from_str(&done.rows[1].fold().unwrap()).unwrap();
        assert_eq!((new.len(), turns), (turns, fold["turns"][1].as_u64().unwrap() as usize));
        for (old, place) in fold["map"].as_array().unwrap().iter().enumerate() {
            if let Some(place) = place.as_u64() {
                assert_eq!(new.as_boolean().value(place as usize), old % 2 == 0);
            }
        }
        if let Some(own) = fold["summary"].as_u64() {
            assert!(!new.as_boolean().value(own as usize));
        }
    }
}

#[test]
fn what_cannot_be_a_batch_of_rows_is_an_error_with_names() {
    let options = options(SummaryPlacement::HumanTurn);
    let one = |name: &str, column: ArrayRef| RecordBatch::try_from_iter([(name, column)]).unwrap();
    let error =
        |batch: &RecordBatch, options: &BatchOptions| compress_batch(batch, options).unwrap_err();
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    assert!(matches!(error(&one("id", Arc::clone(&ids)), &options), BatchError::NoRows));
    let found = error(&one("messages", Arc::clone(&ids)), &options).to_string();
    assert!(found.contains("column `messages` is Int64"), "{found}");
    let text = one("trajectory", texts(0, &[Some("[]".into())]));
    assert!(matches!(error(&text, &options), BatchError::NoRows));
    let named = |name: &str| BatchOptions { column: Some(name.into()), ..options.clone() };
    assert!(matches!(error(&text, &named("steps")), BatchError::NoColumn(_)));
    let done = compress_batch(&text, &named("trajectory")).unwrap();
    assert_eq!(added(&done)[0][0], "skipped");
    // Twice: the names are taken, unless they are others.
    assert!(matches!(error(&done, &named("trajectory")), BatchError::Taken(_)));
    let again = BatchOptions { prefix: "second_".into(), ..named("trajectory") };
    let again = compress_batch(&done, &again).unwrap();
    assert!(COLUMNS.iter().all(|name| again.column_by_name(&format!("second_{name}")).is_some()));
    // No rows are fine.
    assert_eq!(compress_batch(&text.slice(0, 0), &named("trajectory")).unwrap().num_rows(), 0);
}
