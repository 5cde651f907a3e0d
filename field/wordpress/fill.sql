-- What a site holds after six years: 10,000 posts with 50,000 revisions, 60,000
-- comments, 40 categories, 3,000 tags, 300 people, and what plugins leave behind in
-- options and postmeta. Every number is of a hash of its row, so that each fill is the
-- same; times lie before the hour of the fill. Few terms have most posts, few
-- posts have long discussions, few people write most.
SET SESSION time_zone = '+00:00', unique_checks = 0, foreign_key_checks = 0, group_concat_max_len = 1000000, sql_mode = 'NO_UNSIGNED_SUBTRACTION';
SET @last = UNIX_TIMESTAMP() DIV 3600 * 3600, @span = 6 * 365 * 86400, @posts = 10000;
SET @user1 = (SELECT ID FROM wp_users WHERE user_login = 'user1'), @hash = (SELECT user_pass FROM wp_users WHERE user_login = 'user1');
CREATE DATABASE field_keep; -- what reset.sh goes back to

CREATE OR REPLACE FUNCTION r(n BIGINT, k INT) RETURNS DOUBLE DETERMINISTIC
    RETURN CONV(LEFT(MD5(CONCAT(n, '/', k)), 8), 16, 10) / 4294967296;
-- One of 1 to n, the first ones most often (by 1/i).
CREATE OR REPLACE FUNCTION few(n INT, u DOUBLE) RETURNS INT DETERMINISTIC RETURN LEAST(n, FLOOR(POW(n + 1, u)));
CREATE OR REPLACE FUNCTION adjective(n INT) RETURNS VARCHAR(20) DETERMINISTIC
    RETURN ELT(1 + n % 50, 'old', 'new', 'small', 'long', 'quiet', 'northern', 'southern', 'wooden', 'red', 'green', 'blue', 'white', 'broken', 'early', 'late', 'local', 'public', 'private', 'cold', 'warm', 'wet', 'dry', 'narrow', 'wide', 'steep', 'deep', 'shallow', 'empty', 'crowded', 'heavy', 'light', 'rusty', 'painted', 'hidden', 'famous', 'forgotten', 'lost', 'open', 'closed', 'busy', 'slow', 'fast', 'round', 'square', 'foreign', 'modern', 'ancient', 'annual', 'weekly', 'daily');
CREATE OR REPLACE FUNCTION noun(n INT) RETURNS VARCHAR(20) DETERMINISTIC
    RETURN ELT(1 + n % 60, 'harbour', 'bridge', 'ferry', 'market', 'crane', 'museum', 'school', 'library', 'station', 'garden', 'church', 'warehouse', 'lighthouse', 'canal', 'square', 'tower', 'bakery', 'theatre', 'cinema', 'stadium', 'workshop', 'factory', 'mill', 'quay', 'dock', 'island', 'beach', 'cliff', 'forest', 'meadow', 'river', 'lake', 'tunnel', 'tram', 'bus', 'road', 'path', 'street', 'house', 'roof', 'window', 'door', 'wall', 'gate', 'fence', 'boat', 'ship', 'anchor', 'sail', 'rope', 'net', 'pilot', 'captain', 'cook', 'teacher', 'painter', 'baker', 'council', 'festival', 'storm');

-- People: the first is there (site.php), the others have its password. Twelve editors,
-- sixty authors, and those who only registered.
INSERT INTO wp_users (ID, user_login, user_pass, user_nicename, user_email, user_registered, display_name)
    SELECT @user1 - 1 + seq, CONCAT('user', seq), @hash, CONCAT('user', seq), CONCAT('user', seq, '@field.example'), FROM_UNIXTIME(@last - @span - 86400),
        CONCAT(ELT(1 + FLOOR(r(seq, 1) * 20), 'Anna', 'Ben', 'Carla', 'David', 'Emma', 'Felix', 'Grace', 'Hugo', 'Ines', 'Jan', 'Kate', 'Leo', 'Mia', 'Noah', 'Olga', 'Paul', 'Rosa', 'Sam', 'Tina', 'Victor'), ' ',
            ELT(1 + FLOOR(r(seq, 2) * 24), 'Adams', 'Baker', 'Cole', 'Dahl', 'Evans', 'Fischer', 'Gray', 'Hall', 'Ivers', 'Jones', 'Keller', 'Lopez', 'Moore', 'Novak', 'Olsen', 'Price', 'Quinn', 'Reed', 'Stone', 'Turner', 'Unger', 'Vogel', 'Weber', 'Young'))
    FROM seq_2_to_300;
CREATE TEMPORARY TABLE um AS SELECT meta_key, meta_value FROM wp_usermeta WHERE user_id = @user1 AND meta_key NOT IN ('nickname', 'first_name', 'last_name', 'wp_capabilities', 'wp_user_level', 'session_tokens');
INSERT INTO wp_usermeta (user_id, meta_key, meta_value)
    SELECT u.ID, um.meta_key, um.meta_value FROM wp_users u JOIN um WHERE u.ID > @user1
    UNION ALL SELECT ID, 'nickname', user_login FROM wp_users WHERE ID > @user1
    UNION ALL SELECT ID, 'first_name', SUBSTRING_INDEX(display_name, ' ', 1) FROM wp_users WHERE ID > @user1
    UNION ALL SELECT ID, 'last_name', SUBSTRING_INDEX(display_name, ' ', -1) FROM wp_users WHERE ID > @user1
    UNION ALL SELECT ID, 'wp_capabilities', CASE WHEN ID < @user1 + 12 THEN 'a:1:{s:6:"editor";b:1;}' WHEN ID < @user1 + 72 THEN 'a:1:{s:6:"author";b:1;}' ELSE 'a:1:{s:10:"subscriber";b:1;}' END FROM wp_users WHERE ID > @user1
    UNION ALL SELECT ID, 'wp_user_level', CASE WHEN ID < @user1 + 12 THEN '7' WHEN ID < @user1 + 72 THEN '2' ELSE '0' END FROM wp_users WHERE ID > @user1;

-- Categories, fifteen of them below another, and tags.
INSERT INTO wp_terms (term_id, name, slug)
    SELECT 10 + seq, ELT(seq, 'News', 'Harbour', 'Town', 'Culture', 'Sport', 'Traffic', 'Weather', 'Economy', 'Schools', 'History', 'Food', 'Nature', 'Council', 'Events', 'Letters', 'Photos', 'Music', 'Books', 'Health', 'Housing', 'Police', 'Fishing', 'Tourism', 'Energy', 'Building',
        'Ferries', 'Pilots', 'Cranes', 'Football', 'Sailing', 'Rowing', 'Trams', 'Cycling', 'Storms', 'Theatre', 'Cinema', 'Museums', 'Markets', 'Recipes', 'Birds'), ''
    FROM seq_1_to_40;
UPDATE wp_terms SET slug = LOWER(name) WHERE term_id BETWEEN 11 AND 50;
INSERT INTO wp_term_taxonomy (term_taxonomy_id, term_id, taxonomy, description, parent)
    SELECT 10 + seq, 10 + seq, 'category', '', IF(seq > 25, 10 + ELT(seq - 25, 2, 2, 2, 5, 5, 5, 6, 6, 7, 4, 4, 4, 3, 11, 12), 0) FROM seq_1_to_40;
INSERT INTO wp_terms (term_id, name, slug)
    SELECT 100 + seq, CONCAT(adjective(seq * 7), ' ', noun(seq DIV 50)), CONCAT(adjective(seq * 7), '-', noun(seq DIV 50)) FROM seq_0_to_2999;
INSERT INTO wp_term_taxonomy (term_taxonomy_id, term_id, taxonomy, description) SELECT 100 + seq, 100 + seq, 'post_tag', '' FROM seq_0_to_2999;

-- Texts in blocks, as the editor writes them: paragraphs, with lists, quotes, headings,
-- tables and code now and then.
CREATE TEMPORARY TABLE sentence (id INT PRIMARY KEY) AS
    SELECT seq AS id, CONCAT(ELT(1 + FLOOR(r(seq, 21) * 12), 'Since the last winter', 'After the repair', 'As the council said', 'On the other side of the water', 'With an empty hall', 'When it rains', 'According to the timetable', 'For some of us', 'With a new roof', 'From the top of the hill', 'Before the next season', 'As a first step'), ' the ',
        adjective(seq * 11), ' ', noun(FLOOR(r(seq, 22) * 60)), ' ',
        ELT(1 + FLOOR(r(seq, 23) * 12), 'does not open before noon', 'shows the number 4711 in white paint', 'was moved to another place', 'needs a new coat of paint', 'takes about ten minutes', 'asks for a ticket again and again', 'loses what the storm has left', 'works only for some of us', 'should be counted by the night shift', 'stops after a while', 'has moved to another street', 'must be changed until Friday'),
        IF(seq % 5 = 0, CONCAT(', and <a href="https://www.field.example/', noun(seq), '">the ', noun(seq), '</a> with it'), ''), IF(seq % 7 = 0, CONCAT(' &#8212; <em>', adjective(seq), '</em> as ever'), ''), '.') AS text
    FROM seq_0_to_599;
CREATE TEMPORARY TABLE paragraph (id INT PRIMARY KEY) AS
    SELECT p.seq AS id, CONCAT('<!-- wp:paragraph -->\n<p>', (SELECT GROUP_CONCAT(s.text ORDER BY s.id SEPARATOR ' ') FROM sentence s WHERE s.id BETWEEN p.seq * 7 % 590 AND p.seq * 7 % 590 + 1 + few(8, r(p.seq, 24))), '</p>\n<!-- /wp:paragraph -->\n\n',
        CASE p.seq % 9
            WHEN 1 THEN '<!-- wp:list -->\n<ul><!-- wp:list-item -->\n<li>open the <strong>gate</strong> and wait for the ferry</li>\n<!-- /wp:list-item -->\n\n<!-- wp:list-item -->\n<li>take the second path</li>\n<!-- /wp:list-item -->\n\n<!-- wp:list-item -->\n<li>ring <em>twice</em></li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->\n\n'
            WHEN 3 THEN CONCAT('<!-- wp:heading -->\n<h2>What the ', noun(p.seq), ' says</h2>\n<!-- /wp:heading -->\n\n')
            WHEN 5 THEN CONCAT('<!-- wp:quote -->\n<blockquote class="wp-block-quote"><!-- wp:paragraph -->\n<p>There was never a ', adjective(p.seq), ' ', noun(p.seq * 3), ' here.</p>\n<!-- /wp:paragraph --></blockquote>\n<!-- /wp:quote -->\n\n')
            WHEN 7 THEN '<!-- wp:table -->\n<figure class="wp-block-table"><table><tbody><tr><td>Ferry</td><td>09:15</td></tr><tr><td>Tram</td><td>09:40</td></tr></tbody></table></figure>\n<!-- /wp:table -->\n\n'
            ELSE '' END) AS text
    FROM seq_0_to_540 p;

-- Posts, each with its revisions behind it.
CREATE TEMPORARY TABLE p (n INT PRIMARY KEY, author INT, paragraphs INT, first INT, revisions INT) AS
    SELECT seq AS n, FROM_UNIXTIME(@last - @span + FLOOR(@span * POW(seq / @posts, 0.85))) AS made, few(72, r(seq, 31)) - 1 AS author, 2 + few(30, r(seq, 32)) AS paragraphs, FLOOR(r(seq, 33) * 500) AS first,
        LEAST(40, FLOOR(2.5 * POW(1 - r(seq, 34), -0.6))) AS revisions,
        CONCAT(ELT(1 + FLOOR(r(seq, 35) * 14), 'Repairing', 'Visiting', 'Painting', 'Counting', 'Closing', 'Opening', 'Moving', 'Looking for', 'Waiting for', 'Talking about', 'Building', 'Losing', 'Finding', 'Remembering'), ' the ', adjective(FLOOR(r(seq, 36) * 50)), ' ', noun(few(60, r(seq, 37)) - 1), ' ',
            ELT(1 + FLOOR(r(seq, 38) * 12), 'in spring', 'at night', 'in the rain', 'on Sunday', 'by boat', 'on foot', 'with children', 'in the fog', 'before noon', 'after the storm', 'in winter', 'for nothing')) AS title
    FROM seq_1_to_10000;
CREATE TEMPORARY TABLE x (n INT, k INT, id INT, PRIMARY KEY (n, k)) AS
    SELECT n, seq AS k, 10 + ROW_NUMBER() OVER (ORDER BY n, seq) AS id FROM p JOIN seq_0_to_40 s ON s.seq <= p.revisions;
CREATE TABLE field_keep.numbered (n INT PRIMARY KEY, id INT, UNIQUE KEY (id)) AS SELECT n, id FROM x WHERE k = 0;
DELETE FROM wp_posts WHERE ID = 1;
DELETE FROM wp_comments;
DELETE FROM wp_term_relationships;
CREATE TEMPORARY TABLE body (n INT PRIMARY KEY) AS
    SELECT n, (SELECT GROUP_CONCAT(g.text ORDER BY g.id SEPARATOR '') FROM paragraph g WHERE g.id BETWEEN p.first AND p.first + p.paragraphs) AS text FROM p;
INSERT INTO wp_posts (ID, post_author, post_date, post_date_gmt, post_content, post_title, post_excerpt, post_status, comment_status, ping_status, post_name, to_ping, pinged, post_modified, post_modified_gmt, post_content_filtered, post_parent, guid, post_type)
    SELECT x.id, @user1 + p.author, IF(x.k = 0, p.made, p.made - INTERVAL x.k * 7 MINUTE), IF(x.k = 0, p.made, p.made - INTERVAL x.k * 7 MINUTE), IF(x.k < 2, b.text, LEFT(b.text, 200 + LENGTH(b.text) * 3 DIV (x.k + 3))), p.title, '', IF(x.k = 0, 'publish', 'inherit'), IF(x.k = 0, 'open', 'closed'), IF(x.k = 0, 'open', 'closed'),
        IF(x.k = 0, CONCAT(REPLACE(LOWER(p.title), ' ', '-'), '-', p.n), CONCAT(z.id, '-revision-v1')), '', '', p.made, p.made, '', IF(x.k = 0, 0, z.id), CONCAT('http://field.example/?p=', x.id), IF(x.k = 0, 'post', 'revision')
    FROM x JOIN p ON p.n = x.n JOIN body b ON b.n = x.n JOIN field_keep.numbered z ON z.n = x.n ORDER BY x.id;
SET @page0 = (SELECT MAX(ID) FROM wp_posts) + 10;
INSERT INTO wp_posts (ID, post_author, post_date, post_date_gmt, post_content, post_title, post_excerpt, post_status, comment_status, ping_status, post_name, to_ping, pinged, post_modified, post_modified_gmt, post_content_filtered, post_parent, guid, menu_order, post_type)
    SELECT @page0 + seq, @user1, FROM_UNIXTIME(@last - @span), FROM_UNIXTIME(@last - @span), (SELECT text FROM body WHERE n = s.seq * 13), CONCAT('About the ', adjective(seq), ' ', noun(seq * 7)), '', 'publish', 'closed', 'closed', CONCAT('about-', adjective(seq), '-', noun(seq * 7), '-', seq), '', '', FROM_UNIXTIME(@last - @span), FROM_UNIXTIME(@last - @span), '',
        IF(seq > 20, @page0 + 1 + seq % 20, 0), CONCAT('http://field.example/?page_id=', @page0 + seq), seq, 'page'
    FROM seq_1_to_100 s;

-- One or two categories each, and some tags.
INSERT INTO wp_term_relationships (object_id, term_taxonomy_id)
    SELECT z.id, 10 + few(40, r(z.n, 41)) FROM field_keep.numbered z UNION SELECT z.id, 10 + few(40, r(z.n, 42)) FROM field_keep.numbered z WHERE r(z.n, 43) < 0.4
    UNION SELECT z.id, 99 + few(3000, r(z.n * 10 + s.seq, 44)) FROM field_keep.numbered z JOIN seq_1_to_9 s ON s.seq <= few(9, r(z.n, 45));
UPDATE wp_term_taxonomy x LEFT JOIN (SELECT term_taxonomy_id AS id, COUNT(*) AS posts FROM wp_term_relationships GROUP BY term_taxonomy_id) c ON c.id = x.term_taxonomy_id SET x.count = COALESCE(c.posts, 0);
DELETE FROM wp_options WHERE option_name = 'category_children';

-- Comments: few posts have long discussions, and they are not the newest. A third
-- answers another; some are spam, some wait.
CREATE TEMPORARY TABLE c (id INT PRIMARY KEY, n INT, reader INT) AS
    SELECT seq AS id, 1 + FLOOR(@posts * POW(r(seq, 51), 1.7)) * 7919 % @posts AS n, r(seq, 52) AS u, r(seq, 53) AS v, few(8000, r(seq, 54)) + FLOOR(r(seq, 55) * 40) AS reader FROM seq_1_to_60000;
ALTER TABLE c ADD made DATETIME, ADD parent INT DEFAULT 0, ADD post INT, ADD KEY (n, id);
UPDATE c JOIN p ON p.n = c.n JOIN field_keep.numbered z ON z.n = c.n SET c.post = z.id, c.made = p.made + INTERVAL FLOOR((UNIX_TIMESTAMP() - UNIX_TIMESTAMP(p.made)) * POW(c.u, 4)) SECOND;
UPDATE c JOIN (SELECT id, LAG(id) OVER (PARTITION BY n ORDER BY made, id) AS before_it, LAG(v) OVER (PARTITION BY n ORDER BY made, id) AS v FROM c) y ON y.id = c.id SET c.parent = y.before_it WHERE y.before_it IS NOT NULL AND y.v > 0.1 AND r(c.id, 56) < 0.33;
CREATE TEMPORARY TABLE o (id INT PRIMARY KEY, k INT) AS SELECT id, ROW_NUMBER() OVER (ORDER BY made, id) AS k FROM c;
INSERT INTO wp_comments (comment_ID, comment_post_ID, comment_author, comment_author_email, comment_author_url, comment_author_IP, comment_date, comment_date_gmt, comment_content, comment_approved, comment_agent, comment_parent)
    SELECT 10 + o.k, c.post, CONCAT('Reader ', c.reader), CONCAT('reader', c.reader, '@readers.example'), IF(c.reader % 6 = 0, CONCAT('https://reader', c.reader, '.example/'), ''), CONCAT('198.19.', c.reader DIV 250, '.', 1 + c.reader % 250), c.made, c.made,
        CONCAT((SELECT text FROM sentence WHERE id = c.id % 600), IF(c.v > 0.5, CONCAT('\n\n', (SELECT text FROM sentence WHERE id = c.id * 13 % 600), ' ', (SELECT text FROM sentence WHERE id = c.id * 17 % 600)), '')),
        CASE WHEN c.v < 0.02 THEN '0' WHEN c.v < 0.1 THEN 'spam' ELSE '1' END, 'Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0', COALESCE(10 + q.k, 0)
    FROM c JOIN o ON o.id = c.id LEFT JOIN o q ON q.id = c.parent ORDER BY o.k;
INSERT INTO wp_commentmeta (comment_id, meta_key, meta_value)
    SELECT comment_ID, 'akismet_result', IF(comment_approved = 'spam', 'true', 'false') FROM wp_comments
    UNION ALL SELECT comment_ID, 'akismet_history', 'a:2:{s:4:"time";d:1600000000.1;s:5:"event";s:9:"check-ham";}' FROM wp_comments WHERE comment_ID % 3 = 0;
UPDATE wp_posts p JOIN (SELECT comment_post_ID AS id, COUNT(*) AS comments FROM wp_comments WHERE comment_approved = '1' GROUP BY comment_post_ID) x ON x.id = p.ID SET p.comment_count = x.comments;

-- What the editor and plugins leave with each post, and in the options.
INSERT INTO wp_postmeta (post_id, meta_key, meta_value)
    SELECT z.id, m.k, CASE m.n WHEN 1 THEN @user1 WHEN 2 THEN CONCAT(UNIX_TIMESTAMP(p.made), ':', @user1) WHEN 3 THEN FLOOR(20 * POW(1 - r(z.n, 61), -0.9)) WHEN 4 THEN noun(z.n) WHEN 5 THEN CONCAT(p.title, ', as the ', noun(z.n * 3), ' saw it') WHEN 6 THEN 10 + few(40, r(z.n, 41)) WHEN 7 THEN '1' WHEN 8 THEN CEIL(p.paragraphs / 3) WHEN 9 THEN CONCAT('a:3:{i:0;i:', z.id, ';i:1;i:', z.n, ';i:2;i:7;}') ELSE CONCAT(REPLACE(LOWER(p.title), ' ', '-'), '-draft-', p.n) END
    FROM field_keep.numbered z JOIN p ON p.n = z.n JOIN (SELECT seq AS n, ELT(seq, '_edit_last', '_edit_lock', 'views', '_yoast_wpseo_focuskw', '_yoast_wpseo_metadesc', '_yoast_wpseo_primary_category', '_encloseme', '_yoast_wpseo_estimated-reading-time-minutes', '_related_posts', '_wp_old_slug') AS k FROM seq_1_to_10) m ON m.n < 10 OR z.n % 4 = 0
    ORDER BY z.id, m.n;
INSERT INTO wp_options (option_name, option_value, autoload)
    SELECT CONCAT('plugin_', noun(seq), '_', seq), CONCAT('a:1:{s:4:"data";s:', 32 * few(420, r(seq, 71)), ':"', REPEAT(MD5(seq), few(420, r(seq, 71))), '";}'), 'yes' FROM seq_1_to_140
    UNION ALL SELECT CONCAT('plugin_cache_', seq), CONCAT('a:1:{s:4:"data";s:', 32 * few(900, r(seq, 72)), ':"', REPEAT(MD5(seq), few(900, r(seq, 72))), '";}'), 'no' FROM seq_1_to_500;
DROP FUNCTION r;
DROP FUNCTION few;
DROP FUNCTION adjective;
DROP FUNCTION noun;
ANALYZE TABLE wp_posts, wp_postmeta, wp_comments, wp_commentmeta, wp_terms, wp_term_taxonomy, wp_term_relationships, wp_users, wp_usermeta, wp_options;
