//! The table of secret formats: keyword, then regex, then judgement.

use super::judge::Judge;
use super::value::Place;

/// One format.
pub(super) struct Rule {
    /// What it is; for tests and people.
    #[cfg_attr(not(test), expect(dead_code, reason = "the table's own documentation"))]
    pub name: &'static str,
    /// Where to look, in any case.
    pub keywords: &'static [&'static str],
    /// Anchored at the keyword (or where [`Lead`] moves it). Classes are of ASCII alone: those of
    /// Unicode take long to compile.
    pub pattern: &'static str,
    /// Where the secret stands.
    pub place: Place,
    /// What may stand before the keyword.
    pub lead: Lead,
    /// What a match has to be besides.
    pub judge: Judge,
}

/// What may stand before a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// Anything.
    Any,
    /// No letter, digit or underscore: the keyword starts a word.
    Word,
    /// The keyword starts a part of a name: `db_password`, `apiToken`, but not `mytoken`.
    Part,
    /// Digits, which belong to the secret.
    Digits,
}

impl Lead {
    /// Where the pattern is tried for a keyword at `at`.
    pub(super) fn start(self, text: &str, at: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        let before = &bytes[..at];
        let word = match before {
            [] => false,
            // An escaped line break or tab of a JSON string in a string.
            [.., b'\\', b'n' | b'r' | b't'] => false,
            [.., last] => last.is_ascii_alphanumeric() || *last == b'_',
        };
        let fits = match (self, before.last()) {
            (Self::Any, _) => true,
            (Self::Word, _) => !word,
            (Self::Part, Some(last)) => {
                let hump = last.is_ascii_lowercase() && bytes[at].is_ascii_uppercase();
                !word || !last.is_ascii_alphabetic() || hump
            }
            (Self::Part, None) => true,
            (Self::Digits, _) => {
                let digits = before.iter().rev().take_while(|b| b.is_ascii_digit()).count();
                return (8..=10).contains(&digits).then(|| at - digits);
            }
        };
        fits.then_some(at)
    }
}

/// A key whose prefix names it.
const fn key(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    judge: Judge,
) -> Rule {
    Rule { name, keywords, pattern, place: Place::Matched, lead: Lead::Word, judge }
}

/// A value that is known by what stands before it.
const fn value(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    lead: Lead,
    judge: Judge,
) -> Rule {
    Rule { name, keywords, pattern, place: Place::Matched, lead, judge }
}

/// The value of a name that says what it is.
const fn assigned(name: &'static str, keywords: &'static [&'static str], judge: Judge) -> Rule {
    let place = Place::Assigned;
    Rule { name, keywords, pattern: ASSIGNED, place, lead: Lead::Part, judge }
}

use Judge::{Assigned, Block, Certain, Dense, Password, UrlPassword};

/// Every format. Prefixes and lengths are the vendors' published ones, lengths with some room.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    key("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], r"^(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)", Certain),
    value("aws-secret", &["aws_secret", "secretaccesskey"], r#"^(?i-u:aws_secret(?:_access)?(?:_key)?|secretaccesskey)\\?["']?[ \t\r\n]{0,3}(?:=>|[:=])[ \t\r\n]{0,3}\\?["']?([A-Za-z0-9/+]{40})"#, Lead::Any, Dense),
    key("github", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"^gh[pousr]_[A-Za-z0-9]{30,255}", Certain),
    key("github-pat", &["github_pat_"], r"^github_pat_[A-Za-z0-9_]{40,255}", Certain),
    key("gitlab", &["glpat-", "gldt-", "glrt-", "glptt-", "gloas-", "glcbt-"], r"^gl(?:pat|dt|rt|ptt|oas|cbt)-[A-Za-z0-9_.-]{20,255}", Dense),
    key("slack", &["xox"], r"^xox[abeoprs]-[A-Za-z0-9-]{10,255}", Certain),
    key("slack-app", &["xapp-"], r"^xapp-[0-9]-[A-Z0-9]{5,}-[0-9]{5,}-[a-z0-9]{16,}", Certain),
    value("slack-webhook", &["hooks.slack.com/"], r"^hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,255})", Lead::Any, Certain),
    key("stripe", &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], r"^[sr]k_(?:live|test)_[A-Za-z0-9]{10,255}", Certain),
    key("stripe-webhook", &["whsec_"], r"^whsec_[A-Za-z0-9+/=]{24,255}", Certain),
    key("openai", &["sk-"], r"^sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,255}", Dense),
    key("anthropic", &["sk-ant-"], r"^sk-ant-[A-Za-z0-9_-]{20,255}", Certain),
    key("openrouter", &["sk-or-"], r"^sk-or-[A-Za-z0-9-]{20,255}", Certain),
    key("google-api", &["AIza"], r"^AIza[A-Za-z0-9_-]{35}", Certain),
    key("google-oauth", &["ya29.", "GOCSPX-"], r"^(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,1024}", Certain),
    value("private-key", &["-----BEGIN "], r"^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----", Lead::Any, Block),
    value("azure-storage", &["accountkey=", "sharedaccesskey="], r"^(?i-u:accountkey|sharedaccesskey)=([A-Za-z0-9+/]{40,}={0,2})", Lead::Any, Certain),
    value("azure-sas", &["&sig=", "?sig="], r"^[&?]sig=([A-Za-z0-9%+/]{40,}={0,2})", Lead::Any, Certain),
    key("npm", &["npm_"], r"^npm_[A-Za-z0-9]{36}", Certain),
    key("pypi", &["pypi-"], r"^pypi-[A-Za-z0-9_-]{50,}", Certain),
    key("huggingface", &["hf_"], r"^hf_[A-Za-z0-9]{30,64}", Certain),
    key("twilio", &["SK"], r"^SK[0-9a-f]{32}(?-u:\b)", Certain),
    key("sendgrid", &["SG."], r"^SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", Certain),
    key("mailgun", &["key-"], r"^key-[0-9a-f]{32}(?-u:\b)", Certain),
    value("telegram", &[":AA"], r"^[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}", Lead::Digits, Certain),
    value("discord", &["discord", "bot "], r#"^(?i:discord[^\n]{0,40}?|bot[ \t\r\n]{1,3})([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45})"#, Lead::Any, Certain),
    value("discord-webhook", &["/api/webhooks/"], r"^/api/webhooks/[0-9]{15,22}/([A-Za-z0-9_-]{30,100})", Lead::Any, Certain),
    key("digitalocean", &["dop_v1_", "doo_v1_", "dor_v1_"], r"^do[por]_v1_[a-f0-9]{64}", Certain),
    key("heroku", &["HRKU-"], r"^HRKU-[A-Za-z0-9_-]{30,}", Certain),
    value("heroku-uuid", &["heroku"], r#"^(?i-u:heroku[A-Za-z0-9_. -]{0,24}\\?["']?[ \t\r\n]{0,3}[:=][ \t\r\n]{0,3}\\?["']?)([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"#, Lead::Any, Certain),
    key("databricks", &["dapi"], r"^dapi[0-9a-f]{32}(?:-[0-9])?(?-u:\b)", Certain),
    key("linear", &["lin_api_", "lin_oauth_"], r"^lin_(?:api|oauth)_[A-Za-z0-9]{32,64}", Certain),
    key("notion", &["ntn_", "secret_"], r"^(?:ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43})(?-u:\b)", Dense),
    key("shopify", &["shpat_", "shpca_", "shppa_", "shpss_"], r"^shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", Certain),
    key("jwt", &["eyJ"], r"^eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", Certain),
    key("vault", &["hvs.", "hvb."], r"^hv[sb]\.[A-Za-z0-9_-]{20,300}", Dense),
    key("grafana", &["glsa_", "glc_"], r"^(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2})", Certain),
    key("new-relic", &["NRAK-"], r"^NRAK-[A-Z0-9]{27}", Certain),
    key("postman", &["PMAK-"], r"^PMAK-[0-9a-f]{24}-[0-9a-f]{34}", Certain),
    key("pulumi", &["pul-"], r"^pul-[0-9a-f]{40}", Certain),
    key("rubygems", &["rubygems_"], r"^rubygems_[0-9a-f]{48}", Certain),
    key("groq", &["gsk_"], r"^gsk_[A-Za-z0-9]{40,64}", Certain),
    key("replicate", &["r8_"], r"^r8_[A-Za-z0-9]{37}", Certain),
    key("perplexity", &["pplx-"], r"^pplx-[A-Za-z0-9]{40,64}", Certain),
    key("xai", &["xai-"], r"^xai-[A-Za-z0-9]{60,100}", Certain),
    key("docker", &["dckr_pat_"], r"^dckr_pat_[A-Za-z0-9_-]{20,64}", Certain),
    key("sentry", &["sntrys_"], r"^sntrys_[A-Za-z0-9+/=_]{40,400}", Certain),
    key("atlassian", &["ATATT3"], r"^ATATT3[A-Za-z0-9_=-]{60,300}", Certain),
    key("figma", &["figd_"], r"^figd_[A-Za-z0-9_-]{36,64}", Certain),
    key("planetscale", &["pscale_"], r"^pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,64}", Certain),
    key("age", &["AGE-SECRET-KEY-1"], r"^AGE-SECRET-KEY-1[A-Z0-9]{58}", Certain),
    value("authorization", &["authorization"], r#"^(?i-u:authorization\\?["']?[ \t\r\n]{0,3}[:=][ \t\r\n]{0,3}\\?["']?(?:basic|bearer|token|bot)[ \t\r\n]{1,3})([A-Za-z0-9._~+/=-]{8,})"#, Lead::Any, Password),
    value("bearer", &["bearer "], r"^(?i-u:bearer)[ \t\r\n]{1,3}([A-Za-z0-9._~+/=-]{16,})", Lead::Word, Dense),
    Rule { name: "url-password", keywords: &["://"], pattern: "^://", place: Place::UrlPassword, lead: Lead::Any, judge: UrlPassword },
    assigned("password", &["password", "passwd", "passphrase", "pwd"], Password),
    assigned("assigned", &[
        "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "private_key", "privatekey",
        "encryption_key", "encryptionkey", "signing_key", "auth_key", "authkey", "master_key", "account_key",
        "secret", "token", "authtoken", "credential",
    ], Assigned),
];

/// From a keyword inside a name up to the value: the rest of the name (a new part of it: `_id`,
/// `Id`, `s`), the name's quote, the separator. Quotes may be escaped.
const ASSIGNED: &str = r#"^(?-u:(?i:api[_-]?key|(?:access|private|encryption|signing|auth|master|account)[_-]?key|password|passwd|passphrase|pwd|secret|authtoken|token|credential)s?(?:[_-][A-Za-z0-9_-]{0,32}|[A-Z][A-Za-z0-9_]{0,32})?\\?["']?[\])]?[ \t]{0,8}(?:=>|:=|={1,2}|:)[ \t]{0,8})"#;
