-- The tables of an annotation store (store.py), schema version 2.
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE page (
  id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, record_id TEXT, url TEXT, host TEXT, site TEXT NOT NULL,
  title TEXT, language TEXT, source TEXT NOT NULL, source_offset INTEGER NOT NULL, n_blocks INTEGER NOT NULL,
  draw REAL NOT NULL, practice INTEGER NOT NULL DEFAULT 0, gold TEXT, added TEXT NOT NULL);
CREATE TABLE content (page INTEGER PRIMARY KEY REFERENCES page, markup BLOB NOT NULL, html BLOB NOT NULL,
  blocks BLOB NOT NULL);
CREATE TABLE prelabel (page INTEGER PRIMARY KEY REFERENCES page, model TEXT NOT NULL, labels TEXT NOT NULL,
  uncertain TEXT NOT NULL, uncertainty REAL NOT NULL, marginals BLOB NOT NULL);
CREATE TABLE annotator (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, added TEXT NOT NULL);
CREATE TABLE annotation (
  id INTEGER PRIMARY KEY, page INTEGER NOT NULL REFERENCES page, annotator INTEGER NOT NULL REFERENCES
  annotator, judge INTEGER NOT NULL, labels TEXT NOT NULL, initial TEXT NOT NULL, revision INTEGER NOT NULL
  DEFAULT 0, state TEXT NOT NULL DEFAULT 'open', note TEXT NOT NULL DEFAULT '', opened TEXT NOT NULL,
  last_seen REAL NOT NULL, active_seconds REAL NOT NULL DEFAULT 0, done TEXT, UNIQUE (page, annotator,
  judge));
CREATE INDEX annotation_of_annotator ON annotation (annotator, judge, state);
CREATE TABLE action (
  id INTEGER PRIMARY KEY, annotation INTEGER NOT NULL REFERENCES annotation, revision INTEGER NOT NULL,
  client_id TEXT NOT NULL, kind TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL,
  at TEXT NOT NULL, answer TEXT NOT NULL, UNIQUE (annotation, client_id));
CREATE TABLE remark (id INTEGER PRIMARY KEY, at TEXT NOT NULL, text TEXT NOT NULL);
