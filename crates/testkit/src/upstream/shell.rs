//! The commands of the scripted agent, and the output of a shell for them.

/// The mark for the number of a step, in a command and in its output.
pub(crate) fn mark(step: u32) -> String {
    format!("[step {step}]")
}

/// The highest step whose mark is in a text. `None` where there is no mark.
pub(crate) fn highest(text: &str) -> Option<u32> {
    text.split("[step ").skip(1).filter_map(|rest| rest.split_once(']')?.0.parse().ok()).max()
}

/// The code of a part, which the scripted agent has to remember.
#[must_use]
pub fn code(part: u32) -> String {
    format!("K{part}-{:04x}", mix(part, 40_503, 12_345))
}

/// The sentence that states the code of a part.
#[must_use]
pub fn fact(part: u32) -> String {
    format!("the code of part {part} is {}", code(part))
}

/// The first code for this part in a text, right or wrong. `None` where there is none.
pub(crate) fn find_code(text: &str, part: u32) -> Option<&str> {
    let key = format!("K{part}-");
    text.match_indices(&key).find_map(|(at, _)| {
        let digits = text.get(at + key.len()..at + key.len() + 4)?;
        let hex = digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        hex.then(|| &text[at..at + key.len() + 4])
    })
}

/// `(value * factor + add) % 65536`. The numbers are small enough for the arithmetic of every shell and awk.
fn mix(value: u32, factor: u64, add: u64) -> u64 {
    (u64::from(value) * factor + add) % 65_536
}

/// The bytes of one printed line, roughly.
const LINE_BYTES: u32 = 54;

/// The command of a step. It prints roughly `tokens` tokens of three bytes each. With `plant` it also prints the part's
/// code, which the shell computes by the formula of [`mix`], so that the command does not contain it. `uses` is an
/// earlier code that the command has to contain.
pub(crate) fn command(step: u32, tokens: u32, plant: bool, uses: Option<&str>) -> String {
    let lines = (tokens * 3).div_ceil(LINE_BYTES).max(1);
    let mut text = String::new();
    if let Some(code) = uses {
        text.push_str(&format!("CODE={code}; "));
    }
    text.push_str(&format!("echo \"{} part_{step}.txt\"; ", mark(step)));
    // The command has no `$(`, because some clients refuse command substitution.
    text.push_str(&format!(
        "awk 'BEGIN{{for(i=1;i<={lines};i++){{x=(i*7919+{step}*31337)%65536; printf \
         \"src/part_{step}/mod_%d.rs:%d: value %04x checked in %d ms\\n\", i, x%900, x, x%97}}"
    ));
    if plant {
        text.push_str(&format!(
            "; printf \"the code of part %d is K%d-%04x\\n\", {step}, {step}, \
             ({step}*40503+12345)%65536"
        ));
    }
    text.push_str("}'");
    text
}

/// One line of a step's output.
pub(crate) fn line(step: u32, number: u32) -> String {
    let x = mix(number, 7_919, u64::from(step) * 31_337);
    format!("src/part_{step}/mod_{number}.rs:{}: value {x:04x} checked in {} ms", x % 900, x % 97)
}

/// What the shell prints for any other command.
pub(super) const NOT_FOUND: &str = ": not found";

/// The output of a shell for such a command. Other commands are "not found".
#[must_use]
pub fn output(command: &str) -> String {
    let number = |after: &str| -> Option<u32> {
        let rest = command.split_once(after)?.1;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    };
    let (Some(step), Some(lines)) = (highest(command), number("i<=")) else {
        return format!("sh: {command}{NOT_FOUND}\n");
    };
    let mut text = format!("{} part_{step}.txt\n", mark(step));
    for number in 1..=lines {
        text.push_str(&line(step, number));
        text.push('\n');
    }
    if command.contains("the code of part") {
        text.push_str(&fact(step));
        text.push('\n');
    }
    text
}
