//! The table of secret formats. For each: keywords to search, a regex, and a test for its matches.

use super::judge::MatchJudge;
use super::value::SecretPlace;

/// One format of secrets.
pub(super) struct KeyRule {
    /// The name of the format; for tests and readers.
    #[cfg_attr(not(test), expect(dead_code, reason = "the table's own documentation"))]
    pub name: &'static str,
    /// Texts to search for, in any case.
    pub keywords: &'static [&'static str],
    /// The regex, anchored at the keyword (or where [`KeywordLead`] moves it). Its classes are ASCII only, because
    /// Unicode classes take long to compile.
    pub pattern: &'static str,
    /// Where the secret is.
    pub place: SecretPlace,
    /// The text that may be before the keyword.
    pub lead: KeywordLead,
    /// The test that a match has to pass.
    pub judge: MatchJudge,
}

/// The text that may be before a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeywordLead {
    /// Any text.
    Any,
    /// No letter, digit or underscore, so that the keyword starts a word.
    Word,
    /// The text before the keyword up to white space or a quote, which is part of the match.
    Run,
    /// The first part of a JWT, which is part of the secret.
    Token,
    /// Digits, which are part of the secret.
    Digits,
}

/// Longest text before a keyword that is part of the match, in bytes.
const RUN: usize = 256;

impl KeywordLead {
    /// Byte offset at which the regex is tried for a keyword at `at`. `None` where the text before the keyword does
    /// not fit.
    pub(super) fn start(self, text: &str, at: usize) -> Option<usize> {
        let before = &text.as_bytes()[..at];
        let count = |belongs: fn(u8) -> bool, most| {
            before.iter().rev().take(most).take_while(|b| belongs(**b)).count()
        };
        match self {
            Self::Any => Some(at),
            Self::Word => starts_word(before).then_some(at),
            Self::Run => Some(text.ceil_char_boundary(at - count(is_of_run, RUN))),
            Self::Token => {
                let of = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
                let start = at - count(of, 4 * 1024);
                // An escaped line break or a colour sequence may be right before the token.
                (start..at.min(start + 4)).find(|start| {
                    text[*start..].starts_with("eyJ") && starts_word(&text.as_bytes()[..*start])
                })
            }
            Self::Digits => {
                let digits = count(|b| b.is_ascii_digit(), 20);
                (8..=10).contains(&digits).then(|| at - digits)
            }
        }
    }
}

/// Whether a word may start behind these bytes.
fn starts_word(before: &[u8]) -> bool {
    let word = before.last().is_some_and(|last| last.is_ascii_alphanumeric() || *last == b'_');
    !word || super::names::after_escape(before)
}

/// Whether a byte belongs to the text that [`KeywordLead::Run`] takes.
fn is_of_run(byte: u8) -> bool {
    !(byte.is_ascii_whitespace() || b"\"'`<>()[]{},;=\\".contains(&byte))
}

/// A key that its prefix identifies.
const fn key(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    judge: MatchJudge,
) -> KeyRule {
    KeyRule { name, keywords, pattern, place: SecretPlace::Matched, lead: KeywordLead::Word, judge }
}

/// A value that the text before it identifies.
const fn value(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    lead: KeywordLead,
    judge: MatchJudge,
) -> KeyRule {
    KeyRule { name, keywords, pattern, place: SecretPlace::Matched, lead, judge }
}

/// A quoted argument of a call, with `before` arguments before it.
const fn call(
    name: &'static str,
    before: usize,
    keywords: &'static [&'static str],
    pattern: &'static str,
    judge: MatchJudge,
) -> KeyRule {
    KeyRule {
        name,
        keywords,
        pattern,
        place: SecretPlace::Argument(before),
        lead: KeywordLead::Any,
        judge,
    }
}

/// A format whose secret is in another place than the match.
const fn placed(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    place: SecretPlace,
    lead: KeywordLead,
    judge: MatchJudge,
) -> KeyRule {
    KeyRule { name, keywords, pattern, place, lead, judge }
}

use MatchJudge::{Block, Certain, Coded, Dense, Given, Password, Told, UrlPassword, Wrapped};

/// All formats. Prefixes and lengths are those that the vendors publish; lengths have some tolerance.
#[rustfmt::skip]
pub(super) const RULES: &[KeyRule] = &[
    key("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], r"^(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)", Certain),
    value("aws-pair", &["AKIA", "ASIA"], r#"^(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9/+\n]{1,8}([A-Za-z0-9/+]{40})(?-u:\b|$)"#, KeywordLead::Word, Dense),
    key("aws-session", &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"], r"^[IF][A-Za-z0-9]{11}[A-Za-z0-9/+=%]{60,}", Certain),
    value("aws-signature", &["x-amz-signature=", "x-goog-signature=", "x-amz-security-token="], r"^(?i-u:x-(?:amz|goog)-(?:signature|security-token))=([A-Za-z0-9%/+_-]{40,})", KeywordLead::Any, Certain),
    value("aws-secret", &["aws_secret", "secretaccesskey"], r#"^(?i-u:aws_secret(?:_access)?(?:_key)?|secretaccesskey)\\?["']?[ \t\r\n]{0,3}(?:=>|[:=])[ \t\r\n]{0,3}\\?["']?([A-Za-z0-9/+]{40})"#, KeywordLead::Any, Dense),
    key("github", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"^gh[pousr]_[A-Za-z0-9]{30,255}", Certain),
    key("github-pat", &["github_pat_"], r"^github_pat_[A-Za-z0-9_]{40,255}", Certain),
    key("gitlab", &["glpat-", "gldt-", "glrt-", "glptt-", "gloas-", "glcbt-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-"], r"^gl(?:pat|dt|rt|ptt|oas|cbt|ft|imt|agent|soat|ffct)-[A-Za-z0-9_.-]{20,255}", Dense),
    key("slack", &["xox"], r"^xox[abeoprs][.-][A-Za-z0-9.-]{10,400}", Certain),
    key("slack-app", &["xapp-"], r"^xapp-[0-9]-[A-Z0-9]{5,}-[0-9]{5,}-[a-z0-9]{16,}", Certain),
    value("slack-webhook", &["hooks.slack.com/"], r"^hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,255})", KeywordLead::Any, Certain),
    key("stripe", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"], r"^[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,255}", Certain),
    key("stripe-webhook", &["whsec_"], r"^whsec_[A-Za-z0-9+/=]{24,255}", Certain),
    key("openai", &["sk-"], r"^sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,255}", Dense),
    key("anthropic", &["sk-ant-"], r"^sk-ant-[A-Za-z0-9_-]{20,255}", Certain),
    key("openrouter", &["sk-or-"], r"^sk-or-[A-Za-z0-9-]{20,255}", Certain),
    key("google-api", &["AIza"], r"^AIza[A-Za-z0-9_-]{35}", Certain),
    key("google-oauth", &["ya29.", "GOCSPX-"], r"^(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,1024}", Certain),
    value("azure-storage", &["accountkey=", "sharedaccesskey="], r"^(?i-u:accountkey|sharedaccesskey)=([A-Za-z0-9+/]{40,}={0,2})", KeywordLead::Any, Certain),
    placed("azure-client", &["Q~"], r"^[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}$", SecretPlace::Around, KeywordLead::Any, Certain),
    placed("azure-key", &["JQQJ99"], r"^[A-Za-z0-9]{20,}JQQJ99[A-Za-z0-9]{20,}$", SecretPlace::Around, KeywordLead::Any, Certain),
    value("azure-sas", &["&sig=", "?sig="], r"^[&?]sig=([A-Za-z0-9%+/]{40,}={0,2})", KeywordLead::Any, Certain),
    key("npm", &["npm_"], r"^npm_[A-Za-z0-9]{36}", Certain),
    key("pypi", &["pypi-"], r"^pypi-[A-Za-z0-9_-]{50,}", Certain),
    key("huggingface", &["hf_", "api_org_"], r"^(?:hf|api_org)_[A-Za-z0-9]{30,64}", Certain),
    key("twilio", &["SK"], r"^SK[0-9a-f]{32}(?-u:\b)", Certain),
    key("sendgrid", &["SG."], r"^SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}", Certain),
    key("mailgun", &["key-"], r"^key-[0-9a-f]{32}(?-u:\b)", Certain),
    value("telegram", &[":AA"], r"^[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}", KeywordLead::Digits, Certain),
    value("discord", &["discord", "bot "], r#"^(?i:discord[^\n]{0,40}?|bot[ \t\r\n]{1,3})([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45})"#, KeywordLead::Any, Certain),
    value("discord-webhook", &["/api/webhooks/"], r"^/api/webhooks/[0-9]{15,22}/([A-Za-z0-9_-]{30,100})", KeywordLead::Any, Certain),
    key("digitalocean", &["dop_v1_", "doo_v1_", "dor_v1_"], r"^do[por]_v1_[a-f0-9]{64}", Certain),
    key("heroku", &["HRKU-"], r"^HRKU-[A-Za-z0-9_-]{30,}", Certain),
    value("heroku-uuid", &["heroku"], r#"^(?i-u:heroku[A-Za-z0-9_. -]{0,24}\\?["']?[ \t\r\n]{0,3}[:=][ \t\r\n]{0,3}\\?["']?)([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"#, KeywordLead::Any, Certain),
    key("databricks", &["dapi"], r"^dapi[0-9a-f]{32}(?:-[0-9])?(?-u:\b)", Certain),
    key("linear", &["lin_api_", "lin_oauth_"], r"^lin_(?:api|oauth)_[A-Za-z0-9]{32,64}", Certain),
    key("notion", &["ntn_", "secret_"], r"^(?:ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43})(?-u:\b)", Dense),
    key("shopify", &["shpat_", "shpca_", "shppa_", "shpss_", "prtapi_"], r"^(?:shp(?:at|ca|pa|ss)|prtapi)_[0-9a-fA-F]{32}", Certain),
    placed("jwt", &[".eyJ"], r"^eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", SecretPlace::Matched, KeywordLead::Token, Certain),
    key("vault", &["hvs.", "hvb.", "hvr."], r"^hv[sbr]\.[A-Za-z0-9_-]{20,300}", Dense),
    key("grafana", &["glsa_", "glc_"], r"^(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2})", Certain),
    key("new-relic", &["NRAK-"], r"^NRAK-[A-Z0-9]{27}", Certain),
    key("postman", &["PMAK-"], r"^PMAK-[0-9a-f]{24}-[0-9a-f]{34}", Certain),
    key("pulumi", &["pul-"], r"^pul-[0-9a-f]{40}", Certain),
    key("rubygems", &["rubygems_"], r"^rubygems_[0-9a-f]{48}", Certain),
    key("groq", &["gsk_"], r"^gsk_[A-Za-z0-9]{40,64}", Certain),
    key("replicate", &["r8_"], r"^r8_[A-Za-z0-9]{37}", Certain),
    key("perplexity", &["pplx-"], r"^pplx-[A-Za-z0-9]{40,64}", Certain),
    key("xai", &["xai-"], r"^xai-[A-Za-z0-9]{60,100}", Certain),
    key("docker", &["dckr_pat_", "dckr_oat_"], r"^dckr_[po]at_[A-Za-z0-9_-]{20,64}", Certain),
    key("sentry", &["sntrys_", "sntryu_"], r"^sntry[su]_[A-Za-z0-9+/=_]{40,400}", Certain),
    key("atlassian", &["ATATT3", "ATCTT3"], r"^AT[AC]TT3[A-Za-z0-9_=-]{60,300}", Certain),
    key("figma", &["figd_"], r"^figd_[A-Za-z0-9_-]{36,64}", Certain),
    key("square", &["sq0", "EAAA"], r"^(?:sq0[a-z]{3}-[A-Za-z0-9_-]{22,64}|EAAA[A-Za-z0-9_-]{56,64})(?-u:\b)", Certain),
    key("vendor", &[
        "sbp_", "sb_secret_", "nfp_", "sgp_", "bkua_", "pnu_", "rdme_", "tfp_", "aio_", "CFPAT-", "CCIPAT_", "EZAK", "EZTK", "LTAI",
        "nvapi-", "tskey-", "xkeysib-", "dp.pt.", "dp.st.", "dp.ct.", "dp.scim.", "dp.audit.", "dp.said.", "fio-u-", "FLWSECK", "dt0c01.", "shippo_live_", "shippo_test_", "ops_eyJ",
        "pat-na1-", "pat-eu1-", "AKCp", "fm2_", "fm1r_", "fm1a_", "fo1_", "FlyV1", "EAAC", "EAAM", "lsv2_", "tvly-", "phx_", "phc_", "rpa_", "CLOJARS_", "sk_org_", "cal_live_",
    ], r"^(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{24,64}|nfp_[A-Za-z0-9]{36,64}|sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}|bkua_[a-f0-9]{40}|pnu_[A-Za-z0-9]{36}|rdme_[a-z0-9]{70}|tfp_[A-Za-z0-9_.=-]{40,80}|aio_[A-Za-z0-9]{28}|CFPAT-[A-Za-z0-9_-]{43}|CCIPAT_[A-Za-z0-9_]{40,100}|EZ[AT]K[A-Za-z0-9]{54}|LTAI[A-Za-z0-9]{16,26}|nvapi-[A-Za-z0-9_-]{60,70}|tskey-[a-z]{2,12}-[A-Za-z0-9]{6,40}-[A-Za-z0-9]{16,64}|xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}|dp\.(?:[psc]t|scim|audit|said)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}|fio-u-[A-Za-z0-9_=-]{64}|FLWSECK(?:_TEST)?-[a-f0-9]{12,32}(?:-X)?|dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}|shippo_(?:live|test)_[a-f0-9]{40}|ops_eyJ[A-Za-z0-9+/=]{250,}|pat-(?:na|eu)1-[0-9a-f-]{36}|AKCp[A-Za-z0-9]{60,72}|f(?:m2|m1[ar]|o1)_[A-Za-z0-9+/=_-]{40,}|FlyV1 [A-Za-z0-9+/=_,-]{40,}|EAA[CM][A-Za-z0-9]{100,}|lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}|tvly-[A-Za-z0-9-]{28,64}|ph[xc]_[A-Za-z0-9]{40,50}|rpa_[A-Za-z0-9]{40,50}|CLOJARS_[a-z0-9]{60}|sk_org_[A-Za-z0-9]{30,100}|cal_live_[a-f0-9]{32})(?-u:\b|$)", Dense),
    key("brevo-smtp", &["xsmtpsib-"], r"^xsmtpsib-[a-f0-9]{64}-[A-Za-z0-9]{16}(?-u:\b|$)", Dense),
    key("resend", &["re_"], r"^re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?-u:\b|$)", Dense),
    key("cargo", &["cio"], r"^cio[A-Za-z0-9]{32}(?-u:\b|$)", Dense),
    key("fireworks", &["fw_"], r"^fw_[A-Za-z0-9]{24}(?-u:\b|$)", Dense),
    key("cerebras", &["csk-"], r"^csk-[A-Za-z0-9]{48}(?-u:\b|$)", Dense),
    key("langfuse", &["sk-lf-"], r"^sk-lf-[0-9a-f-]{36}(?-u:\b|$)", Dense),
    key("elevenlabs", &["sk_"], r"^sk_[a-f0-9]{48}(?-u:\b|$)", Dense),
    key("voyage", &["pa-"], r"^pa-[A-Za-z0-9_-]{43}(?-u:\b|$)", Dense),
    key("pinecone", &["pcsk_"], r"^pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{60,66}(?-u:\b|$)", Dense),
    key("firecrawl", &["fc-"], r"^fc-[a-f0-9]{32}(?-u:\b|$)", Dense),
    key("neon", &["napi_"], r"^napi_[a-z0-9]{40,70}(?-u:\b|$)", Dense),
    key("airtable", &["pat"], r"^pat[A-Za-z0-9]{14}\.[a-f0-9]{64}(?-u:\b|$)", Dense),
    key("harness", &["pat.", "sat."], r"^[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}(?-u:\b|$)", Dense),
    key("clickup", &["pk_"], r"^pk_[0-9]{6,10}_[A-Z0-9]{32}(?-u:\b|$)", Dense),
    key("vercel", &["vcp_"], r"^vcp_[A-Za-z0-9]{40,64}(?-u:\b|$)", Dense),
    key("render", &["rnd_"], r"^rnd_[A-Za-z0-9]{28,36}(?-u:\b|$)", Dense),
    key("cloudflare-origin", &["v1.0-"], r"^v1\.0-[a-f0-9]{24}-[a-f0-9]{146}(?-u:\b|$)", Dense),
    key("onepassword", &["A3-"], r"^A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}(?-u:\b|$)", Dense),
    key("gcp-hmac", &["GOOG1E"], r"^GOOG1E[A-Z0-9]{40,60}(?-u:\b|$)", Dense),
    key("bedrock", &["ABSK"], r"^ABSK[A-Za-z0-9+/]{100,280}={0,2}", Dense),
    key("bedrock-short", &["bedrock-api-key-"], r"^bedrock-api-key-[A-Za-z0-9+/=]{60,}", Dense),
    key("tencent", &["AKID"], r"^AKID[A-Za-z0-9]{32}(?-u:\b|$)", Dense),
    key("yandex", &["AQVN"], r"^AQVN[A-Za-z0-9_-]{35,38}(?-u:\b|$)", Dense),
    key("yandex-iam", &["t1.9eu"], r"^t1\.9eu[A-Za-z0-9_-]{40,400}={0,2}\.[A-Za-z0-9_-]{86}={0,2}", Dense),
    key("octopus", &["API-"], r"^API-[A-Z0-9]{26}(?-u:\b|$)", Dense),
    key("infracost", &["ico-"], r"^ico-[A-Za-z0-9]{32}(?-u:\b|$)", Dense),
    key("openshift", &["sha256~"], r"^sha256~[A-Za-z0-9_-]{43}(?-u:\b|$)", Dense),
    key("sonar", &["squ_", "sqp_", "sqa_"], r"^sq[upa]_[a-f0-9]{40}(?-u:\b|$)", Dense),
    key("duffel", &["duffel_live_", "duffel_test_"], r"^duffel_(?:live|test)_[A-Za-z0-9_=-]{43}(?-u:\b|$)", Dense),
    key("braintree", &["access_token$"], r"^access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$?[a-f0-9]{32}(?-u:\b|$)", Dense),
    key("adyen", &["AQE"], r"^AQE[A-Za-z0-9]{5,8}[A-Za-z0-9+/]{60,300}={0,2}-[A-Za-z0-9+/]{30,60}={0,2}-[A-Za-z0-9]{16}(?-u:\b|$)", Dense),
    key("dropbox", &["sl."], r"^sl\.[A-Za-z0-9_=-]{130,200}(?-u:\b|$)", Dense),
    key("launchdarkly", &["sdk-"], r"^sdk-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?-u:\b|$)", Dense),
    key("mapbox", &["sk.eyJ"], r"^sk\.eyJ[A-Za-z0-9_-]{40,120}\.[A-Za-z0-9_-]{20,24}(?-u:\b|$)", Dense),
    key("scalingo", &["tk-us-"], r"^tk-us-[A-Za-z0-9_-]{48}(?-u:\b|$)", Dense),
    key("settlemint", &["sm_aat_", "sm_pat_", "sm_sat_"], r"^sm_[aps]at_[A-Za-z0-9]{16}(?-u:\b|$)", Dense),
    key("intra42", &["s-s4t2"], r"^s-s4t2(?:ud|af)-[a-f0-9]{64}(?-u:\b|$)", Dense),
    key("bitbucket", &["ATBB"], r"^ATBB[A-Za-z0-9]{32}(?-u:\b|$)", Dense),
    key("artifactory", &["cmVmd"], r"^cmVmd[A-Za-z0-9]{59}(?-u:\b|$)", Dense),
    key("new-relic-insert", &["NRII-"], r"^NRII-[A-Za-z0-9-]{32}(?-u:\b|$)", Dense),
    key("new-relic-browser", &["NRJS-"], r"^NRJS-[a-f0-9]{19}(?-u:\b|$)", Dense),
    key("gitlab-runner-old", &["GR1348941"], r"^GR1348941[A-Za-z0-9_-]{20}(?-u:\b|$)", Dense),
    key("google-refresh", &["1//0"], r"^1//0[A-Za-z0-9_-]{40,100}(?-u:\b|$)", Dense),
    key("clickhouse", &["4b1d"], r"^4b1d[A-Za-z0-9]{38}(?-u:\b|$)", Dense),
    key("defined", &["dnkey-"], r"^dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}(?-u:\b|$)", Dense),
    key("adobe", &["p8e-"], r"^p8e-[a-z0-9]{32}(?-u:\b|$)", Dense),
    // The first part is the bot's number in base64: these are all pairs of digits that it may begin with.
    key("discord-bot", &[
        "MTA", "MTE", "MTI", "MTM", "MTQ", "MTU", "MTY", "MTc", "MTg", "MTk", "MjA", "MjE", "MjI", "MjM", "MjQ", "MjU", "MjY", "Mjc", "Mjg", "Mjk",
        "MzA", "MzE", "MzI", "MzM", "MzQ", "MzU", "MzY", "Mzc", "Mzg", "Mzk", "NDA", "NDE", "NDI", "NDM", "NDQ", "NDU", "NDY", "NDc", "NDg", "NDk",
        "NTA", "NTE", "NTI", "NTM", "NTQ", "NTU", "NTY", "NTc", "NTg", "NTk", "NjA", "NjE", "NjI", "NjM", "NjQ", "NjU", "NjY", "Njc", "Njg", "Njk",
        "NzA", "NzE", "NzI", "NzM", "NzQ", "NzU", "NzY", "Nzc", "Nzg", "Nzk", "ODA", "ODE", "ODI", "ODM", "ODQ", "ODU", "ODY", "ODc", "ODg", "ODk",
        "OTA", "OTE", "OTI", "OTM", "OTQ", "OTU", "OTY", "OTc", "OTg", "OTk",
    ], r"^[MNO][A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}(?-u:\b|$)", Dense),
    key("discord-mfa", &["mfa."], r"^mfa\.[A-Za-z0-9_-]{80,100}(?-u:\b|$)", Dense),
    key("nuget", &["oy2"], r"^oy2[a-z0-9]{43}(?-u:\b|$)", Dense),
    key("deno", &["ddp_", "ddo_", "ddw_"], r"^dd[pow]_[A-Za-z0-9]{36,40}(?-u:\b|$)", Dense),
    key("confluent", &["cflt"], r"^cflt[A-Za-z0-9+/]{56,64}={0,2}", Dense),
    key("cursor", &["key_", "crsr_"], r"^(?:key|crsr)_[a-f0-9]{64}(?-u:\b|$)", Dense),
    key("klaviyo", &["pk_"], r"^pk_[a-f0-9]{34}(?-u:\b|$)", Dense),
    key("woocommerce", &["ck_", "cs_"], r"^c[ks]_[a-f0-9]{40}(?-u:\b|$)", Dense),
    key("brave", &["BSA"], r"^BSA[A-Za-z0-9_-]{27,28}(?-u:\b|$)", Dense),
    key("modal", &["as-"], r"^as-[A-Za-z0-9]{22}(?-u:\b|$)", Dense),
    key("infisical", &["st."], r"^st\.[a-f0-9]{24}\.[a-f0-9]{32}\.[a-f0-9]{32}(?-u:\b|$)", Dense),
    key("statsig", &["secret-", "console-"], r"^(?:secret|console)-[A-Za-z0-9]{40,48}(?-u:\b|$)", Dense),
    value("convex", &["prod:", "dev:", "preview:", "project:"], r"^[a-z]{3,7}:[a-z0-9:-]{3,64}\|([A-Za-z0-9+/=]{40,600})", KeywordLead::Word, Dense),
    value("expo-push", &["PushToken["], r"^(?i-u:pushtoken)\[([A-Za-z0-9_-]{20,24})\]", KeywordLead::Any, Certain),
    value("firebase", &[":APA91b"], r"^:(APA91b[A-Za-z0-9_-]{100,200})", KeywordLead::Any, Certain),
    // Prefixes that nothing else has: whatever random text follows is the key.
    key("prefixed", &[
        "vercel_blob_rw_", "vck_", "vci_", "vca_", "vcr_", "snyk_uat.", "snyk_sat.", "snyk_pat.", "jsrp_", "tgp_v1_", "e2b_", "jina_", "tr_dev_", "tr_stg_",
        "tr_prod_", "tr_pat_", "signkey-", "xau_", "secret-live-", "secret-test-", "pdl_live_apikey_", "pdl_sdbx_apikey_", "polar_oat_", "polar_pat_", "depot_project_", "depot_org_",
        "depot_user_", "n8n_api_", "retool_", "dbtc_", "dbtu_", "hbp_", "pylf_v1_", "xaat-", "xapt-", "amzn.mws.", "amzn1.oa2-cs.v1.", "packagist_", "ATTA", "tly-",
        "os_v2_app_", "lin_wh_", "access-sandbox-", "access-development-", "access-production-", "bb_live_", "bb_test_", "bkct_", "cfut_", "cfk_", "cfat_", "esecret_", "unkey_", "pat-na2-", "pat-eu2-", "pat-ap1-",
    ], r"^[A-Za-z0-9][A-Za-z0-9_.=-]{23,255}", Dense),
    key("salesforce", &["00D"], r"^00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,120}(?-u:\b|$)", Dense),
    key("flutterwave", &["FLWSECK_TEST-"], r"^FLWSECK_TEST-[a-f0-9]{12,32}(?:-X)?(?-u:\b|$)", Dense),
    placed("azure-devops", &["AZDO"], r"^[A-Za-z0-9]{60,80}AZDO[A-Za-z0-9]{4}$", SecretPlace::Around, KeywordLead::Any, Certain),
    placed("maxmind", &["_mmk"], r"^[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk$", SecretPlace::Around, KeywordLead::Any, Certain),
    value("mailgun-sending", &["mailgun"], r#"^(?i-u:mailgun)[A-Za-z0-9_. -]{0,24}\\?["']?[ \t:=]{0,4}\\?["']?([0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})"#, KeywordLead::Any, Certain),
    value("bearer-twitter", &["AAAAAAAAAAAAAAAAAAAAA"], r"^A{21,22}[A-Za-z0-9%]{80,100}", KeywordLead::Word, Dense),
    value("oauth-irc", &["oauth:"], r"^oauth:([A-Za-z0-9]{30})(?-u:\b)", KeywordLead::Word, Dense),
    value("azure-function", &["?code=", "&code="], r"^[?&]code=([A-Za-z0-9_/+%-]{40,64}(?:={0,2}|(?:%3D){0,2}))", KeywordLead::Any, Dense),
    value("cookie-session", &["_session="], r"^_session=([A-Za-z0-9%_-]{24,})", KeywordLead::Any, Dense),
    value("vault-old", &["s."], r"^s\.[A-Za-z0-9]{24}(?-u:\b)", KeywordLead::Word, Dense),
    value("netrc", &["login "], r#"^(?i-u:login)[ \t]+[^\s"']{1,64}[ \t\r\n]+password[ \t]+([^\s"'\\]{4,256})"#, KeywordLead::Word, Given),
    value("cookie-flag", &[" -b ", "--cookie "], r#"^(?: -b|--cookie)[ =]["']?[^=;\s"']{1,64}=([A-Za-z0-9%._~+/-]{16,})"#, KeywordLead::Any, Dense),
    value("expect", &["send \"", "send -- \""], r#"^(?:send|send --) "([^"\\\n]{4,128})\\r""#, KeywordLead::Word, Password),
    value("private-lines", &["private-lines:"], r"^(?i-u:private-lines):[ ]?[0-9]{1,4}(?:\r?\n|\\n)((?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|\\n|$))+)", KeywordLead::Any, Certain),
    value("jwk", &["\"d\"", "\"d\\\""], r#"^"d\\{0,3}" ?: ?\\{0,3}"([A-Za-z0-9_-]{40,700})\\{0,3}""#, KeywordLead::Any, Dense),
    value("redis-user", &[" on >", "auth default "], r#"^(?i-u: on >|auth default )([^ \t\r\n"'<>]{6,200})"#, KeywordLead::Any, Password),
    value("identified", &["identified by ", "identified with "], r#"^(?i-u:identified)(?i-u: with [a-z0-9_]{1,40})?(?i-u: by )(?:password )?(?:\\{0,3}["'`])?([^\s"'`\\;]{4,200})"#, KeywordLead::Word, Given),
    value("community", &["snmp-server community "], r"^(?i-u:snmp-server community) ([^ \t\r\n]{4,64})", KeywordLead::Any, Given),
    value("secret-level", &[" secret ", " secret 0 ", " password 0 ", " password 5 ", " password 7 ", " password 8 ", " password 9 "], r"^(?i-u: (?:secret|password)(?: [05789])?) ([^ \t\r\n]{6,64})(?:\r?\n|$)", KeywordLead::Any, Password),
    call("call", 0, &["convertto-securestring "], r"^(?i-u:convertto-securestring )", Given),
    call("call", 0, &["crypt(", "basic_auth("], r"^(?i-u:crypt|basic_auth)\(", Password),
    call("call", 1, &["networkcredential(", "usernamepasswordcredentials(", "passwordauthentication(", "httpbasicauth(", "basicauth(", "basic_auth(", "auth=(", "auth = (", "wifi.begin(", ".login(", ".auth("], r"^(?i-u:[.a-z_]{4,32}(?: ?= ?)?)\(", Given),
    call("call", 2, &["getconnection(", "pdo(", "mysqli_connect(", "mysqli(", "dbi->connect("], r"^(?i-u:[a-z_>-]{3,20})\(", Given),
    KeyRule { name: "private-key", keywords: &["-----BEGIN ", "---- BEGIN SSH2"], pattern: r"^----(?:- ?| )BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-----?", place: SecretPlace::Block, lead: KeywordLead::Any, judge: Block },
    value("npm-auth", &["_authtoken"], r#"^(?i-u:_authtoken)[ =:]{1,3}\\{0,3}["']?([^\s"'\\]{10,512})"#, KeywordLead::Any, Told),
    placed("mailchimp", &["-us"], r"^[0-9a-f]{32}-us[0-9]{1,2}$", SecretPlace::Around, KeywordLead::Any, Certain),
    value("terraform", &[".atlasv1."], r"^\.atlasv1\.([A-Za-z0-9_-]{60,70})", KeywordLead::Any, Certain),
    value("teams-webhook", &["/incomingwebhook/"], r"^(?i-u:/incomingwebhook)/([0-9a-f]{32}(?:/[0-9a-f-]{36})?)", KeywordLead::Any, Certain),
    key("password-hash", &["$2a$", "$2b$", "$2y$", "$6$", "$5$", "$y$", "$argon2", "$apr1$", "$1$"], r"^\$(?:2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}|[56y]\$[./A-Za-z0-9$=]{40,}|argon2id?\$v=[0-9]+\$[a-z0-9=,]+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]{20,}|(?:apr)?1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22})", Certain),
    key("planetscale", &["pscale_"], r"^pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,64}", Certain),
    key("age", &["AGE-SECRET-KEY-1"], r"^AGE-SECRET-KEY-1[A-Z0-9]{58}", Certain),
    value("authorization", &["authorization"], r#"^(?i-u:authorization\\?["']?[ \t\r\n]{0,3}[:=][ \t\r\n]{0,3}\\?["']?(?:(?:[a-z-]{2,20})[ \t\r\n]{1,3})?(?:(?:token|api[_-]?key|credential)=\\?["']?)?)([A-Za-z0-9._~+/=:-]{8,})"#, KeywordLead::Any, Password),
    value("basic", &["basic "], r"^(?i-u:basic)[ \t]{1,3}([A-Za-z0-9+/_-]{8,}={0,2})", KeywordLead::Word, Coded),
    value("auth-pair", &["auth\"", "auth\\\"", "_auth", "auth\\\\\""], r#"^_?auth\\{0,3}"?[ \t\r\n]{0,3}[:=][ \t\r\n]{0,3}\\{0,3}"?([A-Za-z0-9+/_-]{8,}={0,2})"#, KeywordLead::Any, Coded),
    value("cookie", &["cookie"], r#"^(?i-u:cookie)\\{0,3}["']?[ ]?[:=][ ]?\\{0,3}["']?([^=;\s"'\\]{1,64}=[^\r\n"'\\]{12,4096})"#, KeywordLead::Any, Dense),
    value("pgpass", &[":5432:", ":3306:", ":*:*:"], r#"^:(?:5432|3306|\*):[^:\s"']{1,64}:[^:\s"']{1,64}:([^\s"'\\]{4,256})"#, KeywordLead::Any, Told),
    value("oracle-pair", &["jdbc:oracle:thin:"], r#"^jdbc:oracle:thin:[^/\s"']{1,64}/([^@\s"']{1,128})@"#, KeywordLead::Any, UrlPassword),
    placed("dsn-pair", &["@tcp(", "@unix("], r"^[^:@/\s]{1,64}:([^\s]{1,190})@(?:tcp|unix)\(", SecretPlace::Matched, KeywordLead::Run, UrlPassword),
    value("url-key", &["://"], r"^://([A-Za-z0-9_-]{20,256})(?::[^@/\s]{0,64})?@", KeywordLead::Any, Dense),
    placed("wrapped", &[
        "cGFzc3dvcm", "Bhc3N3b3Jk", "wYXNzd29yZ", "cGFzc3dk", "Bhc3N3Z", "wYXNzd2", "c2VjcmV0", "NlY3Jld", "zZWNyZX", "UEFTU1dPUk", "BBU1NXT1JE", "QQVNTV09SR",
        "dG9rZW", "Rva2Vu", "0b2tlb", "YXBpX2tle", "FwaV9rZX", "hcGlfa2V5", "LS0tLS1CRUdJT", "X0tFW", "9LRV", "fS0VZP", "U0VDUkVU", "NFQ1JFV", "TRUNSRV", "VE9LRU", "RPS0VO", "UT0tFT",
        "QUtJQ", "Z2hwX", "docF", "naHBf", "Oi8v", "c2stY", "c2stc",
    ], "^", SecretPlace::Base64, KeywordLead::Any, Wrapped),
    value("bearer", &["bearer "], r"^(?i-u:bearer)[ \t\r\n]{1,3}([A-Za-z0-9._~+/=-]{16,})", KeywordLead::Word, Dense),
    KeyRule { name: "url-password", keywords: &["://"], pattern: "^://", place: SecretPlace::UrlPassword, lead: KeywordLead::Any, judge: UrlPassword },
];
