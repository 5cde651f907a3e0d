-- What forty projects hold after three years: 300 people, 20,000 issues with what
-- was written and changed in them, hours, wikis, forums. Every number is of a hash
-- of its row, so that each fill is the same; times lie before the hour of the fill.
-- Few projects hold most issues, few issues have long histories, the newest are open.
SET SESSION sql_mode = 'NO_UNSIGNED_SUBTRACTION', unique_checks = 0, foreign_key_checks = 0, group_concat_max_len = 1000000;
SET @last = UNIX_TIMESTAMP() DIV 3600 * 3600, @today = CURDATE(), @span = 3 * 365 * 86400, @issues = 20000;
SET @low = (SELECT MIN(id) FROM enumerations WHERE type = 'IssuePriority'), @activity = (SELECT MIN(id) FROM enumerations WHERE type = 'TimeEntryActivity');
SET @new = (SELECT MIN(id) FROM issue_statuses), @bug = (SELECT MIN(id) FROM trackers), @manager = (SELECT id FROM roles WHERE name = 'Manager');

CREATE OR REPLACE FUNCTION r(n BIGINT, k INT) RETURNS DOUBLE DETERMINISTIC
    RETURN CONV(LEFT(MD5(CONCAT(n, '/', k)), 8), 16, 10) / 4294967296;
-- One of 1 to n, the first ones most often (by 1/i).
CREATE OR REPLACE FUNCTION few(n INT, u DOUBLE) RETURNS INT DETERMINISTIC RETURN LEAST(n, FLOOR(POW(n + 1, u)));

-- People: the first is there (people.rb), the others have its password.
SET @user0 = (SELECT id - 1 FROM users WHERE login = 'user1');
INSERT INTO users (id, login, hashed_password, salt, firstname, lastname, status, language, type, mail_notification, created_on, updated_on, passwd_changed_on)
    SELECT @user0 + seq, CONCAT('user', seq), x.hashed_password, x.salt,
        ELT(1 + FLOOR(r(seq, 1) * 20), 'Anna', 'Ben', 'Carla', 'David', 'Emma', 'Felix', 'Grace', 'Hugo', 'Ines', 'Jan', 'Kate', 'Leo', 'Mia', 'Noah', 'Olga', 'Paul', 'Rosa', 'Sam', 'Tina', 'Victor'),
        ELT(1 + FLOOR(r(seq, 2) * 24), 'Adams', 'Baker', 'Cole', 'Dahl', 'Evans', 'Fischer', 'Gray', 'Hall', 'Ivers', 'Jones', 'Keller', 'Lopez', 'Moore', 'Novak', 'Olsen', 'Price', 'Quinn', 'Reed', 'Stone', 'Turner', 'Unger', 'Vogel', 'Weber', 'Young'),
        1, 'en', 'User', x.mail_notification, FROM_UNIXTIME(@last - @span), FROM_UNIXTIME(@last - @span), FROM_UNIXTIME(@last - @span)
    FROM seq_2_to_300 JOIN users x ON x.login = 'user1';
INSERT INTO email_addresses (user_id, address, is_default, notify, created_on, updated_on)
    SELECT @user0 + seq, CONCAT('user', seq, '@field.example'), 1, 1, FROM_UNIXTIME(@last - @span), FROM_UNIXTIME(@last - @span) FROM seq_2_to_300;
INSERT INTO user_preferences (user_id, others, hide_mail, time_zone) SELECT @user0 + seq, x.others, x.hide_mail, x.time_zone FROM seq_2_to_300 JOIN user_preferences x ON x.user_id = @user0 + 1;
-- Keys of the REST interface, and of the feeds that every page names.
DELETE FROM tokens WHERE user_id > @user0;
INSERT INTO tokens (user_id, action, value, created_on, updated_on)
    SELECT @user0 + u.seq, IF(k.seq = 1, 'api', 'feeds'), SHA1(CONCAT('key ', u.seq, '/', k.seq)), FROM_UNIXTIME(@last - @span), FROM_UNIXTIME(@last - @span) FROM seq_1_to_300 u JOIN seq_1_to_2 k;

-- Projects with their members, versions and categories.
CREATE TEMPORARY TABLE p (n INT PRIMARY KEY, id INT, versions INT, categories INT, members INT) AS
    SELECT n, id, 4 + FLOOR(8 / SQRT(n)) AS versions, 3 + FLOOR(6 / SQRT(n)) AS categories, 0 AS members FROM (SELECT ROW_NUMBER() OVER (ORDER BY id) AS n, id FROM projects) x;
UPDATE projects SET created_on = FROM_UNIXTIME(@last - @span), updated_on = FROM_UNIXTIME(@last - @span);
CREATE TEMPORARY TABLE m (PRIMARY KEY (project_n, k)) AS
    SELECT project_n, user_n, ROW_NUMBER() OVER (PARTITION BY project_n ORDER BY MD5(CONCAT(user_n, '-', project_n))) AS k
    FROM (SELECT few(40, r(u.seq * 100 + k.seq, 3)) AS project_n, u.seq AS user_n FROM seq_1_to_300 u JOIN seq_1_to_12 k ON k.seq <= 1 + few(12, r(u.seq, 4)) UNION SELECT seq, 7 * seq FROM seq_1_to_40) x;
UPDATE p JOIN (SELECT project_n, COUNT(*) AS members FROM m GROUP BY project_n) x ON x.project_n = p.n SET p.members = x.members;
INSERT INTO members (id, user_id, project_id, created_on) SELECT ROW_NUMBER() OVER (ORDER BY p.id, m.k), @user0 + m.user_n, p.id, FROM_UNIXTIME(@last - @span) FROM m JOIN p ON p.n = m.project_n;
INSERT INTO member_roles (member_id, role_id) SELECT id, @manager + IF(r(id, 5) < 0.08, 0, IF(r(id, 5) < 0.7, 1, 2)) FROM members;
CREATE TEMPORARY TABLE v (PRIMARY KEY (project_n, k)) AS SELECT ROW_NUMBER() OVER (ORDER BY p.n, s.seq) AS id, p.n AS project_n, p.id AS project_id, s.seq AS k, s.seq > p.versions - 2 AS open, p.versions FROM p JOIN seq_1_to_12 s ON s.seq <= p.versions;
INSERT INTO versions (id, project_id, name, description, effective_date, status, sharing, created_on, updated_on)
    SELECT id, project_id, CONCAT('1.', k), CONCAT('What comes with 1.', k), @today + INTERVAL (k - versions + 1) * 60 + 20 DAY, IF(open, 'open', 'closed'), 'none', FROM_UNIXTIME(@last - @span), FROM_UNIXTIME(@last - @span) FROM v;
CREATE TEMPORARY TABLE c (PRIMARY KEY (project_n, k)) AS SELECT ROW_NUMBER() OVER (ORDER BY p.n, s.seq) AS id, p.n AS project_n, p.id AS project_id, s.seq AS k FROM p JOIN seq_1_to_9 s ON s.seq <= p.categories;
INSERT INTO issue_categories (id, project_id, name) SELECT id, project_id, ELT(k, 'Interface', 'Database', 'Import', 'Export', 'Documentation', 'Installation', 'Performance', 'Rights', 'Other') FROM c;

-- Texts: paragraphs of few sentences in Textile, with lists, code and links now and then.
CREATE TEMPORARY TABLE sentence AS
    SELECT seq AS id, CONCAT(ELT(1 + FLOOR(r(seq, 21) * 12), 'Since the last release', 'After the update', 'As said in the meeting', 'On the test system', 'With an empty list', 'When it is done twice', 'According to the specification', 'For some customers', 'With a new account', 'From the mobile application', 'Before the next release', 'As a first step'), ' ',
        ELT(1 + FLOOR(r(seq, 22) * 10), 'the import', 'the report', 'the dialogue', 'the search', 'the form', 'the server', 'the nightly job', 'the address', 'the export', 'the account page'), ' ',
        ELT(1 + FLOOR(r(seq, 23) * 12), 'does not answer', 'shows an error with the number 4711', 'was switched off', 'needs a restart', 'takes about ten seconds', 'asks for a password again and again', 'loses what was typed in', 'works only for some of us', 'should be sorted by name', 'stops after a timeout', 'has moved to another page', 'must be changed until Friday'), '.') AS text
    FROM seq_1_to_400;
CREATE TEMPORARY TABLE paragraph (PRIMARY KEY (id)) AS
    SELECT p.seq AS id, CONCAT((SELECT GROUP_CONCAT(s.text ORDER BY s.id SEPARATOR ' ') FROM sentence s WHERE s.id BETWEEN 1 + p.seq * 7 % 380 AND 1 + p.seq * 7 % 380 + few(12, r(p.seq, 24))),
        CASE p.seq % 8
            WHEN 1 THEN '\n\n* open the *list* and sort it by date\n* choose the second line\n* press _Save_ twice\n'
            WHEN 3 THEN CONCAT('\n\nIt looks like #', 1 + p.seq * 37 % 19999, ', and the [[Wiki]] says otherwise.\n')
            WHEN 5 THEN '\n\n<pre><code class="ruby">\ndef total(lines)\n  lines.sum { |line| line.price * line.count } # rounding?\nend\n\nputs total(Order.find(4711).lines)\n</code></pre>\n'
            WHEN 6 THEN '\n\n|_. Browser |_. Version |_. Result |\n| Firefox | 115 | right |\n| Chromium | 120 | wrong |\n'
            ELSE '' END) AS text
    FROM seq_0_to_499 p;
CREATE TEMPORARY TABLE paragraph2 LIKE paragraph;
INSERT INTO paragraph2 SELECT * FROM paragraph;

-- Issues. The newer an issue, the likelier it is open. A tenth are parts of another.
CREATE TEMPORARY TABLE i (PRIMARY KEY (id)) AS
    SELECT seq AS id, FROM_UNIXTIME(@last - @span + FLOOR(@span * POW(seq / @issues, 0.8))) AS created, few(40, r(seq, 31)) AS project_n, r(seq, 32) AS u, r(seq, 33) AS v, seq / @issues AS age,
        LEAST(60, FLOOR(1.25 * POW(1 - r(seq, 34), -0.7))) AS notes, r(seq, 35) < 0.1 AS part, r(seq, 36) < 0.05 AS whole
    FROM seq_1_to_20000;
ALTER TABLE i ADD status INT, ADD updated DATETIME, ADD author INT, ADD assignee INT, ADD parent INT, ADD k INT, ADD parts INT, ADD KEY (parent), ADD KEY (project_n);
UPDATE i JOIN p ON p.n = i.project_n JOIN m a ON a.project_n = p.n AND a.k = few(p.members, r(i.id, 37)) JOIN m b ON b.project_n = p.n AND b.k = few(p.members, r(i.id, 38)) SET
    i.author = @user0 + a.user_n, i.assignee = @user0 + b.user_n,
    i.status = @new + CASE WHEN v < 0.04 THEN 5 WHEN v > 0.98 OR v < 0.04 + 0.9 * POW(age, 6) THEN CASE WHEN u < 0.4 THEN 0 WHEN u < 0.65 THEN 1 WHEN u < 0.85 THEN 2 ELSE 3 END ELSE 4 END,
    i.updated = LEAST(FROM_UNIXTIME(@last), created + INTERVAL FLOOR(POW(r(i.id, 39), 3) * 90 * 86400) + 600 SECOND);
UPDATE i JOIN (SELECT id, MAX(IF(whole AND NOT part, id, NULL)) OVER (PARTITION BY project_n ORDER BY id ROWS UNBOUNDED PRECEDING) AS parent FROM i) x ON x.id = i.id SET i.parent = x.parent WHERE part;
UPDATE i JOIN (SELECT id, ROW_NUMBER() OVER (PARTITION BY parent ORDER BY id) AS k FROM i WHERE parent IS NOT NULL) x ON x.id = i.id SET i.k = x.k;
UPDATE i JOIN (SELECT parent, COUNT(*) AS parts FROM i WHERE parent IS NOT NULL GROUP BY parent) x ON x.parent = i.id SET i.parts = x.parts;
INSERT INTO issues (id, tracker_id, project_id, subject, description, start_date, due_date, category_id, status_id, assigned_to_id, priority_id, fixed_version_id, author_id, created_on, updated_on, done_ratio, estimated_hours, parent_id, root_id, lft, rgt, is_private, closed_on)
    SELECT i.id, @bug + CASE WHEN r(i.id, 41) < 0.55 THEN 0 WHEN r(i.id, 41) < 0.85 THEN 1 ELSE 2 END, p.id,
        CONCAT(ELT(few(14, r(i.id, 42)), 'Error in', 'Cannot save', 'Slow', 'Wrong total in', 'Add a filter to', 'Timeout in', 'Broken link in', 'Change the order of', 'Missing translation in', 'New column for', 'Printing of', 'Update of', 'Crash in', 'Tests for'), ' ',
            ELT(1 + FLOOR(r(i.id, 43) * 16), 'the invoice list', 'the login page', 'the calendar', 'the projector booking', 'the price import', 'the address form', 'the nightly report', 'the search', 'the payroll export', 'the backup job', 'the customer page', 'the mobile view', 'the order history', 'the mail server', 'the file upload', 'the test environment'),
            IF(r(i.id, 44) < 0.3, CONCAT(' ', ELT(1 + FLOOR(r(i.id, 45) * 5), 'after the update', 'on Windows', 'with long names', 'for new customers', 'again')), '')),
        CONCAT(p1.text, IF(r(i.id, 46) < 0.6, CONCAT('\n\nh3. What should happen\n\n', p2.text), ''), IF(r(i.id, 47) < 0.12, CONCAT('\n\nh3. Log\n\n<pre>\n', REPEAT(CONCAT('10:00:00 ', MD5(i.id), ' request failed with status 503 after 3 tries\n'), 20), '</pre>'), '')),
        DATE(created), IF(r(i.id, 48) < 0.35, GREATEST(DATE(created), IF(status < @new + 4, @today + INTERVAL FLOOR(r(i.id, 49) * 70) - 20 DAY, DATE(created) + INTERVAL FLOOR(r(i.id, 49) * 60) DAY)), NULL),
        IF(r(i.id, 51) < 0.6, c.id, NULL), status, IF(r(i.id, 52) < 0.85, assignee, NULL), @low + ELT(few(5, r(i.id, 53)), 1, 2, 0, 3, 4),
        IF(r(i.id, 54) < 0.45, v.id, NULL), author, created, updated, IF(status >= @new + 4, 100, IF(status = @new, 0, FLOOR(u * 10) * 10)), IF(r(i.id, 55) < 0.4, few(40, r(i.id, 56)), NULL),
        parent, COALESCE(parent, i.id), IF(parent IS NULL, 1, 2 * i.k), IF(parent IS NULL, 2 + 2 * COALESCE(parts, 0), 2 * i.k + 1), r(i.id, 57) < 0.02, IF(status >= @new + 4, updated, NULL)
    FROM i JOIN p ON p.n = i.project_n JOIN paragraph p1 ON p1.id = FLOOR(500 * r(i.id, 61)) JOIN paragraph2 p2 ON p2.id = FLOOR(500 * r(i.id, 62))
    JOIN c ON c.project_n = p.n AND c.k = few(p.categories, r(i.id, 58))
    JOIN v ON v.project_n = p.n AND v.k = IF(status < @new + 4, p.versions - FLOOR(u * 2), 1 + FLOOR(age * (p.versions - 1))) ORDER BY i.id;
INSERT INTO custom_values (customized_type, customized_id, custom_field_id, value)
    SELECT 'Issue', i.id, f.id, CASE f.name WHEN 'Site' THEN ELT(few(7, r(i.id, 63)), 'Headquarters', 'North', 'South', 'Harbour', 'Airport', 'Campus', 'Warehouse') WHEN 'Severity' THEN ELT(few(4, r(i.id, 64)), 'Minor', 'Major', 'Cosmetic', 'Critical') ELSE IF(r(i.id, 65) < 0.35, CONCAT('PC-', 1000 + few(900, r(i.id, 66))), '') END
    FROM i JOIN custom_fields f ORDER BY i.id, f.id;

-- What was written and changed.
CREATE TEMPORARY TABLE j (PRIMARY KEY (id), KEY (issue)) AS
    SELECT ROW_NUMBER() OVER (ORDER BY at, issue, n) AS id, x.* FROM (SELECT i.id AS issue, s.seq AS n, i.status, i.project_n, i.author, i.assignee, s.seq = i.notes AS final, r(i.id * 100 + s.seq, 71) AS u, r(i.id * 100 + s.seq, 72) AS w,
        created + INTERVAL 300 + FLOOR(TIMESTAMPDIFF(SECOND, created, updated) * s.seq / (notes + 1)) SECOND AS at FROM i JOIN seq_1_to_60 s ON s.seq <= i.notes) x;
INSERT INTO journals (id, journalized_id, journalized_type, user_id, notes, created_on)
    SELECT j.id, issue, 'Issue', IF(w < 0.45, assignee, IF(w < 0.8, author, @user0 + m.user_n)),
        IF(u < 0.7 OR u > 0.95, CONCAT(IF(j.n > 1 AND w < 0.2, '> Since the last release the import takes about ten seconds.\n> What was done?\n\n', ''), text), NULL), at
    FROM j JOIN p ON p.n = j.project_n JOIN m ON m.project_n = p.n AND m.k = few(p.members, r(j.id, 73)) JOIN paragraph ON paragraph.id = FLOOR(500 * r(j.id, 74)) ORDER BY j.id;
INSERT INTO journal_details (journal_id, property, prop_key, old_value, value)
    SELECT id, 'attr', 'status_id', IF(final AND status >= @new + 4, @new + 1, @new), IF(final, status, @new + 1) FROM j WHERE status > @new AND (n = 1 OR final)
    UNION ALL SELECT id, 'attr', 'assigned_to_id', author, assignee FROM j WHERE w > 0.6 AND author <> assignee
    UNION ALL SELECT id, 'attr', 'done_ratio', FLOOR(u * 5) * 10, FLOOR(u * 5) * 10 + 20 FROM j WHERE u > 0.35 AND u < 0.85
    UNION ALL SELECT j.id, 'cf', f.id, 'Minor', 'Major' FROM j JOIN custom_fields f ON f.name = 'Severity' WHERE w < 0.06
    UNION ALL SELECT id, 'attr', 'priority_id', @low + 1, @low + 2 FROM j WHERE u > 0.84 AND u < 0.96;
INSERT INTO attachments (container_id, container_type, filename, disk_filename, disk_directory, filesize, content_type, digest, author_id, created_on)
    SELECT id, 'Issue', CONCAT('screen-', id, '.log'), CONCAT(MD5(id), '_screen.log'), DATE_FORMAT(created, '%Y/%m'), 2000 + id % 9000, 'text/plain', SHA2(id, 256), author, created FROM i WHERE r(id, 67) < 0.15;
INSERT INTO watchers (watchable_type, watchable_id, user_id)
    SELECT DISTINCT 'Issue', i.id, @user0 + m.user_n FROM i JOIN seq_1_to_6 s ON s.seq <= FLOOR(0.5 * POW(1 - r(i.id, 75), -0.5)) JOIN p ON p.n = i.project_n JOIN m ON m.project_n = p.n AND m.k = few(p.members, r(i.id * 10 + s.seq, 76));
INSERT INTO issue_relations (issue_from_id, issue_to_id, relation_type)
    SELECT id, other, ELT(few(3, r(id, 77)), 'relates', 'blocks', 'duplicates') FROM (SELECT id, LAG(id, 5) OVER (PARTITION BY project_n ORDER BY id) AS other FROM i) x WHERE other IS NOT NULL AND r(id, 78) < 0.06;

-- Hours, more of them on newer issues.
INSERT INTO time_entries (project_id, user_id, author_id, issue_id, hours, comments, activity_id, spent_on, tyear, tmonth, tweek, created_on, updated_on)
    SELECT project_id, user, user, issue, hours, comments, activity, day, YEAR(day), MONTH(day), WEEK(day, 3), LEAST(day + INTERVAL 17 HOUR, FROM_UNIXTIME(@last)), LEAST(day + INTERVAL 17 HOUR, FROM_UNIXTIME(@last)) FROM (
        SELECT s.seq, p.id AS project_id, IF(r(s.seq, 81) < 0.6, i.assignee, @user0 + m.user_n) AS user, i.id AS issue, 0.25 * few(32, r(s.seq, 82)) AS hours, ELT(few(6, r(s.seq, 83)), '', 'as discussed', 'tests', 'looked for the cause', 'call with the customer', 'rework') AS comments,
            @activity + (r(s.seq, 84) < 0.75) AS activity, LEAST(DATE(i.created + INTERVAL FLOOR(r(s.seq, 85) * (TIMESTAMPDIFF(SECOND, i.created, i.updated) + 86400)) SECOND), @today) AS day
        FROM seq_1_to_30000 s JOIN i ON i.id = 1 + FLOOR(@issues * POW(r(s.seq, 86), 0.7)) JOIN p ON p.n = i.project_n JOIN m ON m.project_n = p.n AND m.k = few(p.members, r(s.seq, 87))) x ORDER BY day, seq;

-- Wikis: each begins with its start page, a few pages are long.
CREATE TEMPORARY TABLE w (PRIMARY KEY (id)) AS
    SELECT ROW_NUMBER() OVER (ORDER BY x.n) AS id, x.n, k.id AS wiki_id, x.title, FROM_UNIXTIME(@last - FLOOR(@span * POW(r(x.n, 91), 1.5))) AS at, 1 + few(9, r(x.n, 92)) AS versions, x.project_n
    FROM (SELECT n AS n, n AS project_n, 'Wiki' AS title FROM p UNION ALL SELECT 100 + seq, few(40, r(seq, 93)), CONCAT(ELT(1 + FLOOR(r(seq, 94) * 10), 'Installation', 'Release_notes', 'How_to', 'Meeting', 'Interfaces', 'Data_model', 'Test_plan', 'Questions', 'Style_guide', 'Operations'), '_', seq) FROM seq_1_to_460) x
    JOIN p ON p.n = x.project_n JOIN wikis k ON k.project_id = p.id;
INSERT INTO wiki_pages (id, wiki_id, title, created_on, parent_id) SELECT w.id, w.wiki_id, w.title, FROM_UNIXTIME(@last - @span), IF(w.title = 'Wiki', NULL, s.id) FROM w JOIN (SELECT id, wiki_id FROM w WHERE title = 'Wiki') s ON s.wiki_id = w.wiki_id;
INSERT INTO wiki_contents (id, page_id, author_id, text, comments, updated_on, version)
    SELECT w.id, w.id, @user0 + m.user_n, CONCAT('h1. ', REPLACE(title, '_', ' '), '\n\n{{toc}}\n\n', (SELECT GROUP_CONCAT(CONCAT('h2. Part ', s.seq, '\n\n', q.text, '\n\n') ORDER BY s.seq SEPARATOR '') FROM seq_1_to_40 s JOIN paragraph q ON q.id = (w.id * 17 + s.seq * 3) % 500 WHERE s.seq <= 1 + few(40, r(w.n, 95)))), '', at, w.versions
    FROM w JOIN p ON p.n = w.project_n JOIN m ON m.project_n = p.n AND m.k = few(p.members, r(w.n, 96));
INSERT INTO wiki_content_versions (wiki_content_id, page_id, author_id, data, compression, comments, updated_on, version)
    SELECT c.id, c.page_id, c.author_id, IF(s.seq = c.version, c.text, LEFT(c.text, FLOOR(CHAR_LENGTH(c.text) * s.seq / c.version))), '', '', c.updated_on - INTERVAL (c.version - s.seq) * 9 DAY, s.seq FROM wiki_contents c JOIN seq_1_to_10 s ON s.seq <= c.version;

-- News and forums.
INSERT INTO news (project_id, title, summary, description, author_id, created_on)
    SELECT p.id, CONCAT('Release 1.', 1 + s.seq % 9, ' of part ', s.seq), '', q.text, @user0 + m.user_n, FROM_UNIXTIME(@last - FLOOR(@span * r(s.seq, 101))) FROM seq_1_to_150 s JOIN p ON p.n = few(40, r(s.seq, 102)) JOIN m ON m.project_n = p.n AND m.k = 1 JOIN paragraph q ON q.id = s.seq * 3;
INSERT INTO boards (id, project_id, name, description, position) SELECT n, id, 'Questions', 'Questions and answers', 1 FROM p WHERE n <= 15;
INSERT INTO messages (id, board_id, parent_id, subject, content, author_id, created_on, updated_on)
    SELECT s.seq, board, IF(s.seq <= 300, NULL, topic), CONCAT(IF(s.seq <= 300, '', 'RE: '), 'Question ', topic), q.text, @user0 + 1 + FLOOR(300 * r(s.seq, 103)), at, at
    FROM (SELECT seq, IF(seq <= 300, seq, 1 + FLOOR(300 * r(seq, 104))) AS topic, few(15, r(IF(seq <= 300, seq, 1 + FLOOR(300 * r(seq, 104))), 105)) AS board, FROM_UNIXTIME(@last - @span + FLOOR(@span * seq / 1600)) AS at FROM seq_1_to_1500) s JOIN paragraph q ON q.id = s.seq % 500;
UPDATE messages t JOIN (SELECT parent_id, COUNT(*) AS n, MAX(id) AS last FROM messages WHERE parent_id IS NOT NULL GROUP BY parent_id) x ON x.parent_id = t.id SET t.replies_count = x.n, t.last_reply_id = x.last;
UPDATE boards b JOIN (SELECT board_id, COUNT(*) AS n, SUM(parent_id IS NULL) AS topics, MAX(id) AS last FROM messages GROUP BY board_id) x ON x.board_id = b.id SET b.messages_count = x.n, b.topics_count = x.topics, b.last_message_id = x.last;
DROP FUNCTION r;
DROP FUNCTION few;
ANALYZE TABLE issues, journals, journal_details, custom_values, time_entries, watchers, attachments, issue_relations, projects, members, member_roles, users, tokens, versions, wiki_pages, wiki_contents, wiki_content_versions, messages, news, enabled_modules;
