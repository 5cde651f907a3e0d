-- Titles of the pages that were edited since the content was loaded.
SELECT page_title FROM page
  WHERE page_namespace = 0 AND page_latest > (SELECT value FROM case_marks WHERE name = 'revision');
