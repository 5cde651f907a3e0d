// Collections, relations, policies and the first editor, by Directus' own API, so
// that rows that belong together are Directus'. The rest is SQL (fill.sql).
const base = 'http://127.0.0.1:8055';
let token;

async function call(method, path, body) {
	const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
	const answer = await fetch(base + path, { method, headers, body: JSON.stringify(body) });
	const text = await answer.text();
	if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
	return text ? JSON.parse(text).data : undefined;
}

token = (await call('POST', '/auth/login', { email: 'admin@field.example.com', password: 'admin-password' })).access_token;

const id = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true }, meta: { hidden: true, readonly: true, interface: 'input' } };
const text = (field, type = 'string') => ({ field, type, schema: {}, meta: { interface: type === 'text' ? 'input-multiline' : 'input' } });
const number = (field, value) => ({ field, type: 'integer', schema: { default_value: value }, meta: { interface: 'input' } });
const link = (field, type = 'integer') => ({ field, type, schema: {}, meta: { interface: 'select-dropdown-m2o', special: ['m2o'] } });
const list = (field, special) => ({ field, type: 'alias', schema: null, meta: { interface: `list-${special}`, special: [special] } });
const stamp = (field, special) => ({ field, type: 'timestamp', schema: {}, meta: { special: [special], interface: 'datetime', readonly: true, hidden: true } });
const person = (field, special) => ({ field, type: 'uuid', schema: {}, meta: { special: [special], interface: 'select-dropdown-m2o', readonly: true, hidden: true } });
const status = (first, ...others) => ({
	field: 'status', type: 'string', schema: { default_value: first, is_nullable: false },
	meta: { interface: 'select-dropdown', options: { choices: [first, ...others].map((value) => ({ text: value, value })) } },
});

const collections = {
	authors: [id, text('name'), text('slug'), text('email'), text('bio', 'text')],
	categories: [id, text('name'), text('slug'), text('description', 'text'), number('sort')],
	tags: [id, text('name'), text('slug')],
	articles: [
		id, status('draft', 'review', 'scheduled', 'published', 'archived'), text('title'), text('slug'), text('teaser', 'text'), text('body', 'text'),
		{ field: 'published_at', type: 'dateTime', schema: {}, meta: { interface: 'datetime' } }, number('reading_minutes'), number('views', 0),
		{ field: 'featured', type: 'boolean', schema: { default_value: false }, meta: { interface: 'boolean', special: ['cast-boolean'] } },
		link('author'), link('category'), list('tags', 'm2m'), list('comments', 'o2m'),
		person('user_created', 'user-created'), stamp('date_created', 'date-created'), person('user_updated', 'user-updated'), stamp('date_updated', 'date-updated'),
	],
	articles_tags: [id, number('articles_id'), number('tags_id')],
	comments: [id, status('new', 'approved', 'spam'), link('article'), text('name'), text('email'), text('text', 'text'), stamp('date_created', 'date-created')],
};
for (const [collection, fields] of Object.entries(collections)) {
	await call('POST', '/collections', { collection, fields, schema: {}, meta: { hidden: collection === 'articles_tags' } });
}

const relation = (collection, field, related_collection, meta = {}, on_delete = 'SET NULL') => call('POST', '/relations', { collection, field, related_collection, meta, schema: { on_delete } });
await relation('articles', 'author', 'authors');
await relation('articles', 'category', 'categories');
await relation('articles', 'user_created', 'directus_users', {}, 'NO ACTION');
await relation('articles', 'user_updated', 'directus_users', {}, 'NO ACTION');
await relation('articles_tags', 'articles_id', 'articles', { one_field: 'tags', junction_field: 'tags_id' });
await relation('articles_tags', 'tags_id', 'tags', { junction_field: 'articles_id' });
await relation('comments', 'article', 'articles', { one_field: 'comments' });

// Everybody reads what is published, and comments; editors write.
const [open] = await call('GET', '/policies?filter[name][_contains]=public&limit=1');
const may = (policy, action, collection, fields = ['*'], permissions = {}, more = {}) => ({ policy, action, collection, fields, permissions, validation: null, presets: null, ...more });
const editor = await call('POST', '/policies', { name: 'Editor', icon: 'edit', app_access: true, admin_access: false });
const role = await call('POST', '/roles', { name: 'Editor', icon: 'edit' });
await call('POST', '/access', { role: role.id, policy: editor.id });
await call('POST', '/permissions', [
	may(open.id, 'read', 'articles', ['id', 'status', 'title', 'slug', 'teaser', 'body', 'published_at', 'reading_minutes', 'views', 'featured', 'author', 'category', 'tags', 'comments'], { status: { _eq: 'published' } }),
	may(open.id, 'read', 'authors', ['id', 'name', 'slug', 'bio']),
	may(open.id, 'read', 'categories'),
	may(open.id, 'read', 'tags'),
	may(open.id, 'read', 'articles_tags'),
	may(open.id, 'read', 'comments', ['id', 'status', 'article', 'name', 'text', 'date_created'], { status: { _neq: 'spam' } }),
	may(open.id, 'create', 'comments', ['article', 'name', 'email', 'text'], {}, { validation: { _and: [{ text: { _nempty: true } }, { name: { _nempty: true } }] }, presets: { status: 'new' } }),
	...['articles', 'authors', 'categories', 'tags', 'articles_tags', 'comments'].map((collection) => may(editor.id, 'read', collection)),
	may(editor.id, 'read', 'directus_users', ['id', 'first_name', 'last_name', 'email', 'avatar']),
	may(editor.id, 'create', 'articles'),
	may(editor.id, 'update', 'articles', ['*'], { status: { _neq: 'archived' } }),
	...['create', 'update', 'delete'].map((action) => may(editor.id, action, 'articles_tags')),
	may(editor.id, 'update', 'comments', ['status']),
	may(editor.id, 'delete', 'comments', ['*'], { status: { _eq: 'spam' } }),
]);
await call('POST', '/users', { email: 'editor1@field.example.com', password: 'editor-password', first_name: 'Anna', last_name: 'Adams', role: role.id, status: 'active' });
