-- Which history ends with an answer that a later request may name: the first events of a session, and what
-- came behind them. Number 0 is no session: an answer to a first request, which nobody went on with yet.

CREATE TABLE answers (
    answer     BYTEA  PRIMARY KEY,
    session_no BIGINT NOT NULL,
    events     BIGINT NOT NULL,
    rest       BYTEA  NOT NULL,
    made       BIGINT NOT NULL
);

CREATE INDEX answers_session ON answers (session_no, made);
