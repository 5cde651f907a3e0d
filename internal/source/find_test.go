package source

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// program is a file whose lines that make a statement end with a comment, "@name", which
// the test takes for the truth.
type program struct {
	file, src string
}

func index(t *testing.T, programs ...program) *Index {
	t.Helper()
	files := fstest.MapFS{}
	for _, p := range programs {
		files[p.file] = &fstest.MapFile{Data: []byte(p.src)}
	}
	x, err := Build(context.Background(), files)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// told is a place in short: "file:line function", with a ? if it is not sure.
func told(ps []Place) string {
	var out []string
	for _, p := range ps {
		s := fmt.Sprintf("%s:%d %s", p.File, p.Line, p.Function)
		if !p.Sure {
			s += "?"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

const goProgram = `package shop

import "database/sql"

type Store struct{ db *sql.DB }

// SELECT id FROM comment_only WHERE a = 1
const listUsers = "SELECT id, name FROM users WHERE active = ? ORDER BY name"

func (s *Store) User(id int) (*User, error) {
	return scan(s.db.QueryRow("SELECT id, name FROM users WHERE id = ?", id))
}

func (s *Store) Orders(ids []int, sort string) (*sql.Rows, error) {
	q := "SELECT o.id, o.total FROM orders o" +
		" WHERE o.user_id IN (" + marks(len(ids)) + ")"
	if sort != "" {
		q += " ORDER BY o." + sort
	}
	return s.db.Query(q)
}

func Count[T any](db *sql.DB, since int64) int {
	row := db.QueryRow(fmt.Sprintf(` + "`\n\t\tSELECT COUNT(*)\n\t\tFROM visits -- all of them\n\t\tWHERE at > %d`" + `, since))
	return one(row)
}

func insert(db *sql.DB, p Present) {
	db.NamedExec("INSERT INTO presents (user_id, item, amount) VALUES (:user_id, :item, :amount)", p)
}
`

const phpProgram = `<html><?php if ($a): ?>It's SELECT nothing FROM html<?php endif;
namespace App;
// it's a comment with "SELECT id FROM nowhere"
class Cards extends Model
{
    public function deck($user) {
        $sql = 'SELECT c.id, c.level FROM cards c WHERE c.user_id = ' . (int) $user->id;
        if ($this->limit) { $sql .= " AND c.level > {$this->limit['low']}"; }
        $sql .= ' ORDER BY c.position LIMIT 0, 30';
        return $this->db->query($sql);
    }

    private function lock(array $ids): void
    {
        $in = implode(',', $ids);
        $this->db->exec("UPDATE cards SET locked = 1 WHERE id IN ($in)");
        $st = $this->db->prepare(<<<SQL
            INSERT INTO log (card_id, at)
            VALUES (:card, NOW())
            SQL);
    }
}

function sessions() {
    global $db;
    return DB::table('sessions')->where('user_id', $id)->first();
}
`

const rubyProgram = `# don't
class TicketsController < ApplicationController
  def index
    @open = Ticket.where(status: 'open').order(:created_at)
    rows = db.xquery(<<~SQL, params[:owner])
      SELECT t.id, t.subject FROM tickets t
      WHERE t.owner = ? AND t.state = 'new'
    SQL
    x = a / b; y = "/"
    db.query("DELETE FROM drafts WHERE id = #{params[:id]} AND owner = '#{user["name"]}'")
  end

  def self.stats
    db.query('SELECT COUNT(*) AS n ' \
             'FROM tickets')
  end
end
`

const pythonProgram = `"""It's a module."""
import db


class Lists:
    def mails(self, name):
        '''SELECT nothing FROM docs'''
        return db.execute(
            "SELECT id, subject FROM mails "
            "WHERE list = %s AND sent > %(since)s" , (name,))

    async def threads(self, page):
        q = f"SELECT id FROM threads WHERE list = {self.name!r} LIMIT {page * 20}, 20"
        return await db.fetch(q)

def votes(mail):
    return Vote.objects.filter(mail_id=mail, value__gt=0).count()
`

const perlProgram = `package RT::Old;
use strict; # don't

=head1 SELECT

SELECT id FROM pod WHERE id = 1

=cut

sub load {
    my ($self, $id) = @_;
    my $n = $#{$self->{list}};
    my $row = $self->dbh->selectrow_hashref(q{SELECT * FROM queues WHERE id = ?}, {}, $id);
    if ($name =~ /it's "quoted"/) { return; }
    my $sth = $dbh->prepare("SELECT Name FROM users WHERE id = $self->{id} AND " . $where);
    $dbh->do(<<"END", undef, $id);
UPDATE queues SET seen = seen + 1
WHERE id = ?
END
}
`

const jsProgram = `import knex from 'knex'
// it's
export class Articles {
  async list(page) {
    const re = /['"]/g
    return this.db.query(` + "`SELECT id, title FROM articles WHERE state = ${state} LIMIT ${page}`" + `)
  }
}
const byTag = async (tag) => {
  return db.query('SELECT article_id FROM article_tags ' + 'WHERE tag_id = $1', [tag])
}
function comments (req, res) {
  return knex('comments').where({ article: req.id }).orderBy('created')
}
`

const javaProgram = `package shop;
/* "SELECT id FROM comment" */
public class OrderRepository {
    private static final char QUOTE = '"';
    @Query("SELECT o FROM Order o WHERE o.id = :id")
    Order byId(long id);

    public List<Order> open(final int customer) throws SQLException {
        String sql = "SELECT id, total FROM orders " +
            "WHERE customer = ? AND state = 'open'";
        return jdbc.query(sql, customer);
    }
}
`

const expressProgram = `const app = express()
app.get('/api/courses/:id', auth, async (req, res, next) => {
  const rows = await db.query('SELECT id, name FROM courses WHERE id = ?', [req.params.id])
  Class.create({ course_id: 1, part: 2 })
})
app.use('/static', serve())
const all = db.query('SELECT id FROM courses')
`

const sinatraProgram = `class App < Sinatra::Base
  get '/api/classes' do
    db.query('SELECT id FROM classes')
  end

  post '/api/classes' do
    db.xquery('INSERT INTO classes (id, part) VALUES (?, ?)', 1, 2)
  end
end
`

// What has no name but a route is named by that; a call that only looks like one of the
// table's is none.
func TestFindInHandlers(t *testing.T) {
	x := index(t, program{"app.js", expressProgram}, program{"app.rb", sinatraProgram},
		program{"names.py", "def f():\n    courses = get('lessons')\n    add(courses)\n    lessons.sort()\n    lessons.get(1, id=2)\n"},
		program{"p.ts", "export async function one(id: number): Promise<Lecture> {\n  const lecture = pick(); lecture.find(id)\n  return prisma.lecture.findMany({ where: { id } })\n}\n"})
	for _, c := range []struct{ statement, want string }{
		{"SELECT id, name FROM courses WHERE id = 3", "app.js:3 get /api/courses/:id"},
		{"SELECT id FROM courses", "app.js:7 "},
		{"SELECT id FROM classes", "app.rb:3 App#get /api/classes"},
		{"INSERT INTO classes (id, part) VALUES (7, 8)", "app.rb:7 App#post /api/classes"},
		{"INSERT INTO class (course_id, part) VALUES (7, 8)", "app.js:4 get /api/courses/:id?"},
		{"SELECT * FROM lessons WHERE id = 3", ""},
		{"SELECT * FROM lectures WHERE id = 3", "p.ts:3 one?"},
	} {
		if got := told(x.Find(c.statement)); got != c.want {
			t.Errorf("%s\n  found %q\n  want  %q", c.statement, got, c.want)
		}
	}
}

func TestFind(t *testing.T) {
	x := index(t, program{"store.go", goProgram}, program{"src/Cards.php", phpProgram}, program{"app/tickets.rb", rubyProgram}, program{"lists.py", pythonProgram},
		program{"lib/Old.pm", perlProgram}, program{"articles.js", jsProgram}, program{"Orders.java", javaProgram},
		program{"node_modules/x/a.js", "q('SELECT id FROM elsewhere WHERE id = 1')"})
	for _, c := range []struct{ statement, want string }{
		{"SELECT id, name FROM users WHERE active = 1 ORDER BY name", "store.go:8 "},
		{"SELECT `id`, `name` FROM `users` WHERE `id` = 17", "store.go:11 Store.User"},
		{"SELECT o.id, o.total FROM orders o WHERE o.user_id IN (1,2,3)", "store.go:15 Store.Orders"},
		{"SELECT o.id, o.total FROM orders o WHERE o.user_id IN (1,2,3) ORDER BY o.total", "store.go:15 Store.Orders?"},
		{"SELECT COUNT(*) FROM visits WHERE at > 12", "store.go:24 Count"},
		{"INSERT INTO presents (user_id, item, amount) VALUES (1, 'sword', 2)", "store.go:32 insert"},
		{"SELECT c.id, c.level FROM cards c WHERE c.user_id = 3 AND c.level > 7 ORDER BY c.position LIMIT 0, 30", "src/Cards.php:7 Cards::deck"},
		{"UPDATE cards SET locked = 1 WHERE id IN (1, 2)", "src/Cards.php:16 Cards::lock"},
		{"INSERT INTO log (card_id, at) VALUES (3, NOW())", "src/Cards.php:18 Cards::lock"},
		{"select * from `sessions` where `user_id` = 3 limit 1", "src/Cards.php:26 sessions?"},
		{"SELECT t.id, t.subject FROM tickets t WHERE t.owner = 3 AND t.state = 'new'", "app/tickets.rb:6 TicketsController#index"},
		{"DELETE FROM drafts WHERE id = 3 AND owner = 'a'", "app/tickets.rb:10 TicketsController#index"},
		{"SELECT COUNT(*) AS n FROM tickets", "app/tickets.rb:14 TicketsController#stats"},
		{"SELECT `tickets`.* FROM `tickets` WHERE `tickets`.`status` = 'open' ORDER BY `tickets`.`created_at` ASC", "app/tickets.rb:4 TicketsController#index?"},
		{"SELECT id, subject FROM mails WHERE list = 'a' AND sent > '2026-01-01'", "lists.py:9 Lists.mails"},
		{"SELECT id FROM threads WHERE list = 'x' LIMIT 40, 20", "lists.py:13 Lists.threads"},
		{"SELECT COUNT(*) AS `__count` FROM `hyperkitty_vote` WHERE (`hyperkitty_vote`.`mail_id` = 3 AND `hyperkitty_vote`.`value` > 0)", "lists.py:17 votes?"},
		{"SELECT * FROM queues WHERE id = 3", "lib/Old.pm:13 load"},
		{"SELECT Name FROM users WHERE id = 3 AND Disabled = 0", "lib/Old.pm:15 load?"},
		{"UPDATE queues SET seen = seen + 1 WHERE id = 9", "lib/Old.pm:17 load"},
		{"SELECT id, title FROM articles WHERE state = 'open' LIMIT 10", "articles.js:6 Articles.list"},
		{"SELECT article_id FROM article_tags WHERE tag_id = 4", "articles.js:10 byTag"},
		{"select * from `comments` where `article` = 17 order by `created` asc", "articles.js:13 comments?"},
		{"SELECT id, total FROM orders WHERE customer = 3 AND state = 'open'", "Orders.java:9 OrderRepository.open"},
		{"SELECT id FROM elsewhere WHERE id = 4", ""},
		{"SELECT id FROM comment_only WHERE a = 1", ""},
		{"SELECT id FROM pod WHERE id = 1", ""},
		{"SELECT id FROM nowhere", ""},
	} {
		if got := told(x.Find(c.statement)); got != c.want {
			t.Errorf("%s\n  found %q\n  want  %q", c.statement, got, c.want)
		}
	}
	if x.Files != 7 {
		t.Errorf("%d files read, want 7: what lies in node_modules is not the application's", x.Files)
	}
}

// The same text in two places is sure of neither.
func TestFindOfTwo(t *testing.T) {
	x := index(t, program{"a.go", "package a\n\nfunc one() { q(\"SELECT id FROM t WHERE a = ?\") }\n\nfunc two() { q(\"SELECT id FROM t WHERE a = ?\") }\n"})
	if got, want := told(x.Find("SELECT id FROM t WHERE a = 1")), "a.go:3 one?, a.go:5 two?"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// A text of which more than half is put in when it runs tells too little.
	x = index(t, program{"a.go", "package a\n\nfunc one(t, w string) { q(\"SELECT id FROM \" + t + \" WHERE \" + w) }\n"})
	if got := x.Find("SELECT id FROM t WHERE a = 1 AND b = 2 AND c = 3 ORDER BY d, e, f"); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// What is no program, cut off or hostile ends, too.
func TestLexAnything(t *testing.T) {
	for name, l := range languages {
		for _, src := range []string{"", "\"", "'''", "\"\"\"", "<<<EOT", "<<~X\n", "q{", "qq", "%q(", "/*", "=head", "`${", "f\"{", "\"#{", "$", "\"$a[", "\"{$", "<?php \"$a->", "func (", "function", "def", "sub {",
			strings.Repeat("(", 1000), strings.Repeat("\"a\" . ", 1000), strings.Repeat("func f() {", 1000), "x = <<A + <<B\n1\nA\n2\n"} {
			toks := lex(l, []byte(src))
			if got := texts(l, toks); len(got) > len(toks) {
				t.Errorf("%s: %q", name, src)
			}
		}
	}
}

func FuzzLex(f *testing.F) {
	for _, p := range []program{{".go", goProgram}, {".php", phpProgram}, {".rb", rubyProgram}, {".py", pythonProgram}, {".pl", perlProgram}, {".js", jsProgram}, {".java", javaProgram}} {
		f.Add(p.file, p.src)
	}
	f.Fuzz(func(t *testing.T, name, src string) {
		l := languageOf(name)
		if l == nil || len(src) > 1<<16 {
			return
		}
		for _, s := range texts(l, lex(l, []byte(src))) {
			if s.Line < 1 {
				t.Fatalf("line %d", s.Line)
			}
		}
	})
}
