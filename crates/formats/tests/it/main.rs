//! The tests of the formats, in one binary: it links once.

mod answer;
mod answer_blank;
mod columns;
mod corpus;
mod dialect_columns;
mod dialects;
mod documents;
mod ollama;
mod overflow;
mod read_beside;
mod read_clients;
mod read_corpus;
mod read_properties;
mod read_recorded;
mod read_requests;
mod read_sessions;
mod recall_tool;
mod said;
mod speakers;
mod trajectory;
mod turns;
mod typed;
mod vendor_anthropic;
mod vendor_openai;
mod views;
