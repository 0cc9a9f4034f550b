-- Which history ends with an answer that a later request may name: the first events of a session, and what
-- came behind them. Number 0 is no session: an answer to a first request, which nobody went on with yet.

CREATE TABLE answers (
    answer     BLOB    PRIMARY KEY,
    session_no INTEGER NOT NULL,
    events     INTEGER NOT NULL,
    rest       BLOB    NOT NULL,
    made       INTEGER NOT NULL
) STRICT;

CREATE INDEX answers_session ON answers (session_no, made);
