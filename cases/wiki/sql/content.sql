-- What an import leaves behind, and what differs from build to build.
TRUNCATE TABLE objectcache;
TRUNCATE TABLE l10n_cache;
TRUNCATE TABLE module_deps;
TRUNCATE TABLE job;
UPDATE page SET page_random = RAND(page_id), page_touched = '20250101000000';
UPDATE user SET user_touched = '20250101000000', user_registration = '20181231000000';

-- The first state, for reset.sql: what edits change and do not only add to.
CREATE TABLE case_marks (
  name VARBINARY(32) NOT NULL PRIMARY KEY,
  value BIGINT NOT NULL
) ENGINE=InnoDB;
INSERT INTO case_marks VALUES
  ('revision', (SELECT MAX(rev_id) FROM revision)),
  ('content', (SELECT MAX(content_id) FROM content)),
  ('text', (SELECT MAX(old_id) FROM text)),
  ('recentchange', (SELECT MAX(rc_id) FROM recentchanges));
CREATE TABLE case_page AS SELECT * FROM page;
CREATE TABLE case_site_stats AS SELECT * FROM site_stats;
CREATE TABLE case_searchindex AS SELECT * FROM searchindex;
CREATE TABLE case_editcount AS SELECT user_id, user_editcount FROM user;
