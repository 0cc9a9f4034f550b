//! The functions that the sources print, in Rust, over messages of the Chat Completions format.

use serde_json::Value;

fn role(message: &Value) -> &str {
    message["role"].as_str().unwrap_or_default()
}

fn has_calls(message: &Value) -> bool {
    message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty())
}

/// `_head_end`: leading system messages and the first user message.
pub fn head_end(messages: &[Value]) -> usize {
    let mut i = 0;
    while i < messages.len() && role(&messages[i]) == "system" {
        i += 1;
    }
    if i < messages.len() && role(&messages[i]) == "user" {
        i += 1;
    }
    i
}

/// `_tail_start`, with the tokens of each message given.
pub fn tail_start(
    messages: &[Value],
    tokens: &[u64],
    head_end: usize,
    budget: u64,
    ratio: f64,
    min_msgs: usize,
) -> usize {
    let floor = ratio * budget as f64;
    let mut start = messages.len();
    while start > head_end {
        let candidate = start - 1;
        let tail = &tokens[candidate..];
        if tail.iter().sum::<u64>() as f64 >= floor && tail.len() >= min_msgs {
            return snap_to_pair_boundary(messages, candidate, head_end);
        }
        start = candidate;
    }
    head_end
}

/// `_snap_to_pair_boundary`.
pub fn snap_to_pair_boundary(messages: &[Value], mut idx: usize, head_end: usize) -> usize {
    while idx > head_end && role(&messages[idx]) == "tool" {
        idx -= 1;
    }
    idx
}

/// `_align_boundary_forward`.
pub fn align_forward(messages: &[Value], mut idx: usize) -> usize {
    while idx < messages.len() && role(&messages[idx]) == "tool" {
        idx += 1;
    }
    idx
}

/// `_align_boundary_backward`.
pub fn align_backward(messages: &[Value], idx: usize) -> usize {
    if idx == 0 || idx >= messages.len() {
        return idx;
    }
    let mut check = idx as isize - 1;
    while check >= 0 && role(&messages[check as usize]) == "tool" {
        check -= 1;
    }
    if check >= 0 {
        let parent = &messages[check as usize];
        if role(parent) == "assistant" && has_calls(parent) {
            return check as usize;
        }
    }
    idx
}

/// The cost of a message in `_find_tail_cut_by_tokens`: chars/4 + 10, and chars/4 of arguments.
fn cost(message: &Value) -> u64 {
    let content = match &message["content"] {
        Value::String(text) => text.chars().count(),
        Value::Array(parts) => {
            parts.iter().filter_map(|p| p["text"].as_str()).map(|t| t.chars().count()).sum()
        }
        _ => 0,
    };
    let arguments = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
        call["function"]["arguments"].as_str().unwrap_or_default().chars().count() as u64 / 4
    });
    content as u64 / 4 + 10 + arguments.sum::<u64>()
}

/// `_find_tail_cut_by_tokens` up to its last step, which the source names and does not print.
pub fn find_tail_cut_by_tokens(messages: &[Value], head_end: usize, token_budget: u64) -> usize {
    let n = messages.len();
    let min_tail = if n as isize - head_end as isize > 1 { 3.min(n - head_end - 1) } else { 0 };
    let soft_ceiling = (token_budget as f64 * 1.5) as u64;
    let mut accumulated = 0;
    let mut cut_idx = n;
    for i in (head_end..n).rev() {
        let msg_tokens = cost(&messages[i]);
        if accumulated + msg_tokens > soft_ceiling && (n - i) >= min_tail {
            break;
        }
        accumulated += msg_tokens;
        cut_idx = i;
    }
    let fallback_cut = n - min_tail;
    if cut_idx > fallback_cut {
        cut_idx = fallback_cut;
    }
    if cut_idx <= head_end {
        cut_idx = fallback_cut.max(head_end + 1);
    }
    align_backward(messages, cut_idx)
}

/// `_ensure_last_user_message_in_tail`, by its name and its comment.
pub fn ensure_last_user_message_in_tail(
    messages: &[Value],
    cut: usize,
    head_end: usize,
    is_user: impl Fn(usize) -> bool,
) -> usize {
    match (head_end..messages.len()).rev().find(|at| is_user(*at)) {
        Some(user) if user < cut => user.max(head_end + 1),
        _ => cut.max(head_end + 1),
    }
}

/// The prune boundary of `_prune_old_tool_results`: the larger of the cut by tokens and of that by messages.
pub fn prune_boundary(messages: &[Value], protect_count: usize, protect_tokens: u64) -> usize {
    let n = messages.len();
    let min_protect = protect_count.min(n - 1);
    let mut accumulated = 0;
    let mut boundary = n;
    for i in (0..n).rev() {
        let msg_tokens = cost(&messages[i]);
        if accumulated + msg_tokens > protect_tokens && (n - i) >= min_protect {
            boundary = i;
            break;
        }
        accumulated += msg_tokens;
        boundary = i;
    }
    boundary.max(n - min_protect)
}

/// `should_compress`.
pub fn should_compress(tokens: u64, threshold: u64, ineffective: u8) -> bool {
    !(tokens < threshold || ineffective >= 2)
}

/// `compress_trajectory` up to the span that it replaces, between the protected turns: `compress_start` up to
/// `compress_until`. `None` where nothing is compressed.
pub fn trajectory_span(
    turn_tokens: &[u64],
    protected: std::ops::Range<usize>,
    target_max_tokens: u64,
    summary_target_tokens: u64,
) -> Option<std::ops::Range<usize>> {
    let total_tokens: u64 = turn_tokens.iter().sum();
    let (compress_start, compress_end) = (protected.start, protected.end);
    if total_tokens <= target_max_tokens || compress_start >= compress_end {
        return None;
    }
    let target_tokens_to_compress = total_tokens - target_max_tokens + summary_target_tokens;
    let mut accumulated_tokens = 0;
    let mut compress_until = compress_start;
    for (i, tokens) in turn_tokens.iter().enumerate().take(compress_end).skip(compress_start) {
        accumulated_tokens += tokens;
        compress_until = i + 1;
        if accumulated_tokens >= target_tokens_to_compress {
            break;
        }
    }
    Some(compress_start..compress_until)
}
