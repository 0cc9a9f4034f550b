//! Reads a model's reply: its header, and its sections in whatever form the model wrote them.

use crate::narrate::{SummaryRequest, is_nothing};
use crate::recap::parse::LEGACY_PREFIX;
use crate::recap::visible::starts;

/// Why a reply has no usable section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MalformedReply {
    /// The reply does not start as the schema does.
    NoHeader,
    /// The reply has no section that was asked for.
    NoSection,
    /// Every section is empty.
    Hollow,
}

/// A line of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SectionLine {
    /// The words of the line; never blank.
    pub text: String,
    /// Whether it is on the line of its section's name, behind the name.
    pub named: bool,
}

/// The name of a section, and its lines.
pub(crate) type ReplySection = (String, Vec<SectionLine>);

/// The sections of a reply, compared with those that were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundSections {
    /// All sections in the request's order; a missing section has no lines.
    pub sections: Vec<ReplySection>,
    /// The names of the missing sections.
    pub missing: Vec<String>,
    /// How many lines came before the first section.
    pub stray: usize,
}

/// A reply without its wrapping: white space, a code fence around the whole, and thinking aloud before it.
pub(crate) fn unwrap(text: &str) -> &str {
    let mut text = text.trim();
    if let Some(rest) = text.strip_prefix("<think>")
        && let Some(end) = rest.find("</think>")
    {
        text = rest[end + "</think>".len()..].trim();
    }
    if let Some(rest) = text.strip_prefix("```")
        && let Some(rest) = rest.strip_suffix("```")
        && let Some((_, body)) = rest.split_once('\n')
    {
        text = body.trim();
    }
    text
}

/// The reply below its header. Where code writes the header (see `asks_header`), the model may have repeated it or
/// written the header of older compactors (Hermes Agent: `_with_summary_prefix`): both are removed.
pub(crate) fn body<'a>(request: &SummaryRequest, text: &'a str) -> Result<&'a str, MalformedReply> {
    let header = request.header.trim();
    if request.asks_header() {
        let rest = text.strip_prefix(header).ok_or(MalformedReply::NoHeader)?;
        let ends = rest.is_empty() || rest.starts_with('\n') || rest.starts_with('\r');
        // Any reader takes `## Conversation Summary:` or trailing blanks for the same header.
        let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
        if !ends && !line.trim_matches([' ', ':', '*', '\t', '\r']).is_empty() {
            return Err(MalformedReply::NoHeader);
        }
        return Ok(below);
    }
    let known = [LEGACY_PREFIX, header].into_iter().filter(|prefix| !prefix.is_empty());
    Ok(known.filter_map(|prefix| text.strip_prefix(prefix)).next().unwrap_or(text))
}

/// The lines of each section, in whatever order they come. Fails unless at least one section says something.
pub(crate) fn sections(
    request: &SummaryRequest,
    body: &str,
) -> Result<FoundSections, MalformedReply> {
    let mut by_section: Vec<Option<Vec<SectionLine>>> = vec![None; request.sections.len()];
    let mut current = None;
    let mut stray = 0;
    for line in body.lines() {
        if let Some((section, rest)) = section_start(line, &request.sections) {
            let lines = by_section[section].get_or_insert_with(Vec::new);
            lines.extend(
                (!rest.is_empty()).then(|| SectionLine { text: rest.to_owned(), named: true }),
            );
            current = Some(section);
        } else if line.trim().is_empty() {
        } else if let Some(lines) = current.and_then(|at: usize| by_section[at].as_mut()) {
            lines.push(SectionLine { text: line.trim_end().to_owned(), named: false });
        } else {
            stray += 1;
        }
    }
    if by_section.iter().all(Option::is_none) {
        // Without a header to ask for, a summary is recognised by its first section.
        let asks = request.asks_header();
        return Err(if asks { MalformedReply::NoSection } else { MalformedReply::NoHeader });
    }
    let names = request.sections.iter();
    let missing = names.clone().zip(&by_section).filter(|(_, lines)| lines.is_none());
    let missing = missing.map(|(name, _)| name.clone()).collect();
    let lines = by_section.into_iter().map(Option::unwrap_or_default);
    let sections: Vec<_> = names.cloned().zip(lines).collect();
    if sections.iter().all(|(_, lines)| lines.iter().all(|line| is_nothing(&line.text))) {
        return Err(MalformedReply::Hollow);
    }
    Ok(FoundSections { sections, missing, stray })
}

/// The section that a line opens, and the text behind its name: `- **Facts:** x`, `* Facts: x`, `## Facts`,
/// `### 3. Facts`, `**Facts**`. `None` where the line opens no section.
fn section_start<'a>(line: &'a str, names: &[String]) -> Option<(usize, &'a str)> {
    let indent = line.len() - line.trim_start().len();
    if indent > 3 {
        return None;
    }
    let text = line.trim();
    let heading = text.trim_start_matches('#');
    let mut marked = heading.len() < text.len();
    let mut rest = heading.trim_start();
    for mark in ["- ", "* ", "• ", "+ "] {
        rest = rest.strip_prefix(mark).unwrap_or(rest);
    }
    if marked {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['.', ' ']);
    }
    if let Some(bold) = rest.strip_prefix("**").or_else(|| rest.strip_prefix("__")) {
        (rest, marked) = (bold, true);
    }
    // The longest matching name wins, because one name may be the start of another.
    let fits = |name: &&(usize, &String)| starts(rest, name.1);
    let (at, name) = names.iter().enumerate().filter(|n| fits(&n)).max_by_key(|n| n.1.len())?;
    let after = &rest[name.len()..];
    let tail = after.trim_start_matches(['*', '_', ':', ' ', '：']);
    let colon = after[..after.len() - tail.len()].contains([':', '：']);
    let closed = after.starts_with("**") || after.starts_with("__");
    let ends = tail.is_empty();
    let opens = colon || (marked && (ends || closed));
    opens.then(|| (at, tail.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["Decisions", "Open Items", "Open"].map(str::to_owned).to_vec()
    }

    #[test]
    fn sections_are_found_in_the_forms_that_models_write() {
        for (line, wanted) in [
            ("- **Decisions:** use it", Some((0, "use it"))),
            ("* **Decisions**: use it", Some((0, "use it"))),
            ("**Open Items**", Some((1, ""))),
            ("## 2. Open Items", Some((1, ""))),
            ("Open items: x", Some((1, "x"))),
            ("- Decisions were made", None),
            ("      - **Decisions:** quoted", None),
            ("Opening it", None),
        ] {
            assert_eq!(section_start(line, &names()), wanted, "{line}");
        }
    }

    #[test]
    fn wrapping_is_taken_off() {
        assert_eq!(unwrap("\n```markdown\n## S\n- x\n```\n"), "## S\n- x");
        assert_eq!(unwrap("<think>hm\n## no</think>\n## S"), "## S");
        assert_eq!(unwrap("```js\ncode"), "```js\ncode");
    }
}
