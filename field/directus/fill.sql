-- What a small magazine holds after three years: 200 editors, 20,000 articles with
-- their tags, 80,000 comments, and what Directus noted of who did what. Every number
-- is of a hash of its row, so that each fill is the same; times lie before the hour
-- of the fill. Few categories, authors and editors have most articles, few articles
-- most comments, and what is new is not always published.
SET SESSION time_zone = '+00:00', unique_checks = 0, foreign_key_checks = 0, group_concat_max_len = 1000000;
SET @last = UNIX_TIMESTAMP() DIV 3600 * 3600, @span = 3 * 365 * 86400, @articles = 20000;

CREATE OR REPLACE FUNCTION field_keep.r(n BIGINT, k INT) RETURNS DOUBLE DETERMINISTIC
    RETURN CONV(LEFT(MD5(CONCAT(n, '/', k)), 8), 16, 10) / 4294967296;
-- One of 1 to n, the first ones most often (by 1/i).
CREATE OR REPLACE FUNCTION field_keep.few(n INT, u DOUBLE) RETURNS INT DETERMINISTIC RETURN LEAST(n, FLOOR(POW(n + 1, u)));
CREATE OR REPLACE FUNCTION field_keep.slug(t VARCHAR(255)) RETURNS VARCHAR(255) DETERMINISTIC RETURN REPLACE(LOWER(t), ' ', '-');
CREATE OR REPLACE FUNCTION field_keep.first_name(n INT) RETURNS VARCHAR(20) DETERMINISTIC
    RETURN ELT(1 + n % 20, 'Anna', 'Ben', 'Carla', 'David', 'Emma', 'Felix', 'Grace', 'Hugo', 'Ines', 'Jan', 'Kate', 'Leo', 'Mia', 'Noah', 'Olga', 'Paul', 'Rosa', 'Sam', 'Tina', 'Victor');
CREATE OR REPLACE FUNCTION field_keep.last_name(n INT) RETURNS VARCHAR(20) DETERMINISTIC
    RETURN ELT(1 + n % 24, 'Adams', 'Baker', 'Cole', 'Dahl', 'Evans', 'Fischer', 'Gray', 'Hall', 'Ivers', 'Jones', 'Keller', 'Lopez', 'Moore', 'Novak', 'Olsen', 'Price', 'Quinn', 'Reed', 'Stone', 'Turner', 'Unger', 'Vogel', 'Weber', 'Young');

-- Editors: the first is there (schema.mjs), the others have its password.
INSERT INTO directus_users (id, first_name, last_name, email, password, status, role, provider, email_notifications)
    SELECT CONCAT(LEFT(MD5(seq), 8), '-', SUBSTR(MD5(seq), 9, 4), '-4', SUBSTR(MD5(seq), 14, 3), '-a', SUBSTR(MD5(seq), 18, 3), '-', RIGHT(MD5(seq), 12)),
        field_keep.first_name(FLOOR(field_keep.r(seq, 1) * 20)), field_keep.last_name(FLOOR(field_keep.r(seq, 2) * 24)), CONCAT('editor', seq, '@field.example.com'), x.password, x.status, x.role, x.provider, x.email_notifications
    FROM seq_2_to_200 JOIN directus_users x ON x.email = 'editor1@field.example.com';
CREATE TEMPORARY TABLE u (n INT PRIMARY KEY, id CHAR(36) CHARACTER SET utf8mb4 NOT NULL) AS SELECT CAST(REGEXP_SUBSTR(email, '[0-9]+') AS INT) AS n, id FROM directus_users WHERE email LIKE 'editor%';

-- Texts: sentences, and paragraphs of them.
CREATE TEMPORARY TABLE sentence (id INT PRIMARY KEY) AS
    SELECT seq AS id, CONCAT(ELT(1 + FLOOR(field_keep.r(seq, 21) * 12), 'Since the last winter', 'After the flood', 'As the council said on Monday', 'In the old town', 'With an empty purse', 'When it rains twice a week', 'According to the museum', 'For some families', 'With a new bridge', 'From the harbour', 'Before the next festival', 'As a first step'), ' ',
        ELT(1 + FLOOR(field_keep.r(seq, 22) * 10), 'the railway', 'the bakery', 'the theatre', 'the market', 'the school', 'the ferry', 'the night bus', 'the library', 'the brewery', 'the town hall'), ' ',
        ELT(1 + FLOOR(field_keep.r(seq, 23) * 12), 'does not open on Sundays', 'shows pictures that nobody had seen before', 'was sold to its neighbours', 'needs a new roof', 'takes about ten minutes longer', 'asks for help again and again', 'loses what it had won', 'works only for some of us', 'should be painted by the children', 'stops at midnight', 'has moved to another street', 'must be paid for until Friday'), '.') AS text
    FROM seq_1_to_400;
CREATE TEMPORARY TABLE paragraph (id INT PRIMARY KEY) AS
    SELECT p.seq AS id, CONCAT(IF(p.seq % 5 = 2, CONCAT('<h2>', ELT(1 + p.seq % 6, 'What is known', 'How it began', 'What it costs', 'Who decides', 'What comes next', 'Voices from the street'), '</h2>\n'), ''),
        '<p>', (SELECT GROUP_CONCAT(s.text ORDER BY s.id SEPARATOR ' ') FROM sentence s WHERE s.id BETWEEN 1 + p.seq * 7 % 380 AND 1 + p.seq * 7 % 380 + 2 + field_keep.few(12, field_keep.r(p.seq, 24))), '</p>\n',
        IF(p.seq % 9 = 4, '<ul><li>open from <strong>nine</strong> to five</li><li>two floors</li><li><a href="/about">more</a></li></ul>\n', '')) AS text
    FROM seq_0_to_999 p;

INSERT INTO authors (id, name, slug, email, bio)
    SELECT seq, CONCAT(field_keep.first_name(seq * 7), ' ', field_keep.last_name(seq * 5)), field_keep.slug(CONCAT(field_keep.first_name(seq * 7), ' ', field_keep.last_name(seq * 5), ' ', seq)), CONCAT('author', seq, '@field.example.com'),
        CONCAT('Writes since ', 2005 + seq % 18, '. ', s.text) FROM seq_1_to_60 JOIN sentence s ON s.id = seq;
INSERT INTO categories (id, name, slug, description, sort)
    SELECT seq, n, field_keep.slug(n), CONCAT('All about ', LOWER(n), '.'), seq FROM (SELECT seq, ELT(seq, 'Town', 'Politics', 'Culture', 'Sports', 'Food', 'Economy', 'Traffic', 'Science', 'Schools', 'Music', 'Weather', 'History', 'Housing', 'Health', 'Gardens', 'Travel', 'Books', 'Letters') AS n FROM seq_1_to_18) x;
INSERT INTO tags (id, name, slug)
    SELECT seq, n, field_keep.slug(n) FROM (SELECT seq, CONCAT(ELT(1 + seq % 20, 'Old', 'New', 'Green', 'Open', 'Lost', 'Small', 'Late', 'Free', 'Wild', 'Quiet', 'Loud', 'Cold', 'Warm', 'Fast', 'Slow', 'Young', 'Rich', 'Poor', 'Wide', 'Deep'), ' ',
        ELT(1 + seq DIV 20, 'harbour', 'bread', 'winter', 'railway', 'festival', 'museum', 'river', 'street', 'school', 'garden', 'theatre', 'market', 'bridge', 'council', 'football', 'library')) AS n FROM seq_1_to_300) x;

-- Articles, in the order of their time. The newer one is, the likelier it is not out.
CREATE TEMPORARY TABLE a (id INT PRIMARY KEY) AS
    SELECT seq AS id, FROM_UNIXTIME(@last - @span + FLOOR(@span * POW(seq / @articles, 0.8))) AS at, seq / @articles AS age, field_keep.r(seq, 31) AS u, field_keep.r(seq, 32) AS v,
        CONCAT(ELT(field_keep.few(14, field_keep.r(seq, 33)), 'How', 'Why', 'When', 'What if', 'Now', 'Again', 'Where', 'At last', 'Never', 'Once more', 'Today', 'So', 'Perhaps', 'Almost'), ' ',
            ELT(1 + FLOOR(field_keep.r(seq, 34) * 16), 'the harbour', 'the bread', 'the winter', 'the railway', 'the festival', 'the museum', 'the river', 'the council', 'the night bus', 'the school', 'the garden', 'the theatre', 'the market', 'the bridge', 'the football club', 'the library'), ' ',
            ELT(1 + FLOOR(field_keep.r(seq, 35) * 14), 'changed', 'was saved', 'became too dear', 'comes back', 'lost its roof', 'won', 'closes', 'opens', 'moves', 'learns to fly', 'grew', 'sleeps', 'found a friend', 'went abroad')) AS title
    FROM seq_1_to_20000;
ALTER TABLE a ADD status VARCHAR(20);
UPDATE a SET status = CASE WHEN u < 0.02 THEN 'archived' WHEN u > 0.985 - 0.4 * POW(age, 25) THEN CASE WHEN v < 0.6 THEN 'draft' WHEN v < 0.85 THEN 'review' ELSE 'scheduled' END ELSE 'published' END;
CREATE TEMPORARY TABLE body (id INT PRIMARY KEY) AS
    SELECT x.id, GROUP_CONCAT(p.text ORDER BY x.k SEPARATOR '') AS text
    FROM (SELECT a.id, k.seq AS k, (a.id * 131 + k.seq * 377) % 1000 AS paragraph FROM (SELECT id, 2 + field_keep.few(14, field_keep.r(id, 36)) AS n FROM a) a JOIN seq_1_to_16 k ON k.seq <= a.n) x JOIN paragraph p ON p.id = x.paragraph GROUP BY x.id;
INSERT INTO articles (id, status, title, slug, teaser, body, published_at, reading_minutes, views, featured, author, category, user_created, date_created, user_updated, date_updated)
    SELECT a.id, a.status, a.title, CONCAT(field_keep.slug(a.title), '-', a.id), CONCAT(s.text, ' ', t.text), b.text,
        CASE a.status WHEN 'published' THEN a.at WHEN 'archived' THEN a.at WHEN 'scheduled' THEN FROM_UNIXTIME(@last + FLOOR(a.v * 14 * 86400)) END,
        1 + LENGTH(b.text) DIV 1200, IF(a.status = 'published', LEAST(5000000, FLOOR(50 * POW(1 - field_keep.r(a.id, 37), -1.1))), 0), field_keep.r(a.id, 38) < 0.03,
        field_keep.few(60, field_keep.r(a.id, 39)), field_keep.few(18, field_keep.r(a.id, 40)), c.id, a.at - INTERVAL 2 + FLOOR(field_keep.r(a.id, 41) * 200) HOUR, e.id, a.at - INTERVAL FLOOR(field_keep.r(a.id, 42) * 100) MINUTE
    FROM a JOIN body b ON b.id = a.id JOIN sentence s ON s.id = 1 + a.id % 397 JOIN sentence t ON t.id = 1 + a.id * 31 % 399
        JOIN u c ON c.n = field_keep.few(200, field_keep.r(a.id, 43)) JOIN u e ON e.n = field_keep.few(200, field_keep.r(a.id, 44)) ORDER BY a.id;
INSERT INTO articles_tags (articles_id, tags_id)
    SELECT DISTINCT a.id, field_keep.few(300, field_keep.r(a.id * 10 + k.seq, 45)) FROM (SELECT id, 1 + field_keep.few(7, field_keep.r(id, 46)) AS n FROM a) a JOIN seq_1_to_8 k ON k.seq <= a.n ORDER BY a.id, k.seq;

-- Comments, in the order of their time; few articles have most.
INSERT INTO comments (status, article, name, email, text, date_created)
    SELECT CASE WHEN x.v < 0.08 THEN 'spam' WHEN x.v > 0.99 OR x.v > 0.5 AND x.at > FROM_UNIXTIME(@last - 3 * 86400) THEN 'new' ELSE 'approved' END, x.article,
        field_keep.first_name(x.n), CONCAT(LOWER(field_keep.first_name(x.n)), x.n, '@reader.example'), CONCAT_WS(' ', s.text, IF(x.n % 3 > 0, t.text, NULL), IF(x.n % 7 = 0, CONCAT(t.text, ' ', s.text, ' ', t.text), NULL)), x.at
    FROM (SELECT c.seq AS n, a.id AS article, field_keep.r(c.seq, 51) AS v, a.at + INTERVAL FLOOR(60 + (@last - UNIX_TIMESTAMP(a.at) - 60) * POW(field_keep.r(c.seq, 52), 5)) SECOND AS at
        FROM seq_1_to_83669 c JOIN a ON a.id = 1 + FLOOR(@articles * POW(field_keep.r(c.seq, 53), 2.5)) * 7919 % @articles WHERE a.status = 'published' AND a.at < FROM_UNIXTIME(@last - 120)) x
        JOIN sentence s ON s.id = 1 + x.n % 400 JOIN sentence t ON t.id = 1 + x.n * 17 % 399 ORDER BY x.at;

-- What Directus noted: who wrote and changed which article, and who came.
INSERT INTO directus_activity (action, user, timestamp, ip, user_agent, collection, item, origin)
    SELECT IF(k.seq = 1, 'create', 'update'), IF(k.seq = 1, x.user_created, x.user_updated), IF(k.seq = 1, x.date_created, x.date_updated), '10.9.8.7', 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'articles', x.id, 'http://127.0.0.1'
    FROM articles x JOIN seq_1_to_2 k ORDER BY x.id, k.seq;
INSERT INTO directus_revisions (activity, collection, item, data, delta)
    SELECT y.id, y.collection, y.item, JSON_OBJECT('id', x.id, 'status', x.status, 'title', x.title, 'slug', x.slug, 'teaser', x.teaser, 'author', x.author, 'category', x.category), JSON_OBJECT('status', x.status, 'teaser', x.teaser)
    FROM directus_activity y JOIN articles x ON x.id = CAST(y.item AS INT) WHERE y.collection = 'articles' AND y.action = 'update' ORDER BY y.id;
INSERT INTO directus_activity (action, user, timestamp, ip, user_agent, collection, item, origin)
    SELECT 'login', u.id, FROM_UNIXTIME(@last - @span + FLOOR(@span * seq / 30000)), '10.9.8.7', 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'directus_users', u.id, 'http://127.0.0.1'
    FROM seq_1_to_30000 JOIN u ON u.n = field_keep.few(200, field_keep.r(seq, 61));
DROP FUNCTION field_keep.r;
DROP FUNCTION field_keep.few;
DROP FUNCTION field_keep.slug;
DROP FUNCTION field_keep.first_name;
DROP FUNCTION field_keep.last_name;
ANALYZE TABLE articles, articles_tags, comments, directus_activity, directus_revisions, directus_users;
