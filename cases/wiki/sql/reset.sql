-- Takes edits back, while serving, and once they are more than a day old brings the
-- recent changes up to the present: the newest was an hour ago. Numbers of revisions are not used again,
-- and edited pages count as touched now, so that no cache takes an old answer
-- for a new one.
START TRANSACTION;
SET @revision = (SELECT value FROM case_marks WHERE name = 'revision');
SET @content = (SELECT value FROM case_marks WHERE name = 'content');
SET @text = (SELECT value FROM case_marks WHERE name = 'text');
SET @recent = (SELECT value FROM case_marks WHERE name = 'recentchange');

REPLACE INTO searchindex
  SELECT o.* FROM case_searchindex o JOIN page p ON p.page_id = o.si_page WHERE p.page_latest > @revision;
UPDATE page p JOIN case_page o USING (page_id)
  SET p.page_latest = o.page_latest, p.page_len = o.page_len, p.page_is_new = o.page_is_new,
      p.page_is_redirect = o.page_is_redirect, p.page_touched = DATE_FORMAT(UTC_TIMESTAMP(), '%Y%m%d%H%i%s')
  WHERE p.page_latest > @revision;
DELETE FROM ip_changes WHERE ipc_rev_id > @revision;
DELETE FROM revision_comment_temp WHERE revcomment_rev > @revision;
DELETE FROM slots WHERE slot_revision_id > @revision;
DELETE FROM revision WHERE rev_id > @revision;
DELETE FROM content WHERE content_id > @content;
DELETE FROM text WHERE old_id > @text;
DELETE FROM change_tag WHERE ct_rev_id > @revision;
UPDATE change_tag_def SET ctd_count = (SELECT COUNT(*) FROM change_tag WHERE ct_tag_id = ctd_id);
DELETE FROM change_tag_def WHERE ctd_count = 0 AND ctd_user_defined = 0;
DELETE FROM recentchanges WHERE rc_id > @recent;
UPDATE user u JOIN case_editcount o USING (user_id) SET u.user_editcount = o.user_editcount
  WHERE u.user_editcount <> o.user_editcount;
UPDATE site_stats s JOIN case_site_stats o USING (ss_row_id)
  SET s.ss_total_edits = o.ss_total_edits, s.ss_good_articles = o.ss_good_articles, s.ss_total_pages = o.ss_total_pages,
      s.ss_users = o.ss_users, s.ss_active_users = o.ss_active_users, s.ss_images = o.ss_images;

SET @shift = (SELECT TIMESTAMPDIFF(SECOND, STR_TO_DATE(MAX(rc_timestamp), '%Y%m%d%H%i%s'), UTC_TIMESTAMP()) - 3600 FROM recentchanges);
UPDATE recentchanges
  SET rc_timestamp = DATE_FORMAT(STR_TO_DATE(rc_timestamp, '%Y%m%d%H%i%s') + INTERVAL @shift SECOND, '%Y%m%d%H%i%s')
  WHERE @shift > 86400;
COMMIT;
