//! The file of Hermes' trajectory compressor.

use midfold_cli::inside::{JobFile, family};

#[test]
fn every_key_of_the_peer_is_known() {
    let text = "
tokenizer:
  name: \"moonshotai/Kimi-K2-Thinking\"
  trust_remote_code: true
compression:
  target_max_tokens: 29000  # of 32k
  summary_target_tokens: 750
protected_turns: {first_system: true, first_human: true, first_gpt: false, first_tool: true, last_n_turns: 6}
summarization:
  model: google/gemini-3-flash-preview
  base_url: null
  api_key_env: OPENROUTER_API_KEY
  temperature: 0.3
  max_retries: 3
  retry_delay: 2
output:
  add_summary_notice: true
  summary_notice_text: \"\\n\\nSome of it may be a summary.\"
  output_suffix: _compressed
processing:
  num_workers: 3
  max_concurrent_requests: 50
  skip_under_target: true
  save_over_limit: false
  per_trajectory_timeout: 300
metrics:
  enabled: true
  per_trajectory: false
  output_file: compression_metrics.json
";
    let config = JobFile::parse("a.yaml", text, false).unwrap();
    assert_eq!(
        (config.target, config.summary, config.keep_last),
        (Some(29_000), Some(750), Some(6))
    );
    assert_eq!((config.first_gpt, config.save_over_limit), (Some(false), Some(false)));
    assert_eq!(config.notice.as_deref(), Some("\n\nSome of it may be a summary."));
    assert_eq!(config.metrics_file.as_deref(), Some("compression_metrics.json"));
    assert_eq!((config.workers, config.row_metrics), (Some(3), false));
    assert_eq!(config.notes.len(), 2, "{:?}", config.notes);
    assert!(config.notes[0].contains("no model is asked: processing.max_concurrent_requests"));
    assert_eq!(config.notes[1], "without effect, since -o names the output: output.output_suffix");
    assert_eq!(config.summariser.retry_delay, Some(2.0));
    // With a model, only the name of the output is not the file's to give.
    assert_eq!(JobFile::parse("a.yaml", text, true).unwrap().notes.len(), 1);
    let text = text.replace("base_url: null", "base_url: http://127.0.0.1:1");
    assert_eq!(JobFile::parse("a.yaml", &text, false).unwrap().notes.len(), 1);
    assert_eq!(family(&config.tokenizer.unwrap()), Some("kimi_k2"));
}

#[test]
fn what_is_wrong_is_named() {
    let error = |text| JobFile::parse("a.yaml", text, false).unwrap_err().message;
    assert!(
        error("compression:\n  target_max_tokens: many").contains("compression.target_max_tokens")
    );
    assert!(error("- a").contains("no sections"));
    assert!(error("a: [").contains("not YAML"));
    assert!(error("metrics: {output_file: ../x}").contains("no plain file name"));
    assert!(error("summarization: {retry_delay: -1}").contains("summarization.retry_delay"));
    assert!(JobFile::parse("a.yaml", "", false).unwrap().notes.is_empty());
    let notes = JobFile::parse("a.yaml", "compression: {target: 5}\nmine: 1", false).unwrap().notes;
    assert_eq!(notes, ["unknown in a.yaml: compression.target, mine"]);
    let text = "protected_turns: {first_system: false, first_human: true}";
    let notes = JobFile::parse("a.yaml", text, false).unwrap().notes;
    assert!(notes[0].contains("first_system = false") && notes.len() == 1, "{notes:?}");
    let text = "protected_turns: {first_system: false, first_human: false, first_gpt: false, first_tool: false}";
    assert!(JobFile::parse("a.yaml", text, false).unwrap().notes.is_empty());
}
