# What twelve mailing lists hold after five years: 60,000 mails of 3,000 people in
# 15,000 threads, what readers voted, tagged and kept. Seeded, so that each fill is
# the same; times lie before the hour of the fill. Few lists and few people write
# most, few threads are long, and mail grows by the year.
import bisect
import datetime
import itertools
import random
import uuid

import django

django.setup()

from django.contrib.auth.hashers import make_password
from django.db import connection
from hyperkitty.lib.utils import get_message_id_hash

rnd = random.Random(1)
LAST = datetime.datetime.utcnow().replace(minute=0, second=0, microsecond=0)
SPAN = 5 * 365 * 86400
THREADS, MAILS, PEOPLE, USERS = 15000, 60000, 3000, 300


def zipf(n, power=1.0):
    """Draws 0 to n-1, the first ones most often."""
    sums = list(itertools.accumulate(1 / (i + 1) ** power for i in range(n)))
    return lambda: min(n - 1, bisect.bisect_left(sums, rnd.random() * sums[-1]))


def put(table, columns, rows, size=1000):
    with connection.cursor() as cursor:
        cursor.execute('SET SESSION foreign_key_checks = 0, unique_checks = 0')
        for at in range(0, len(rows), size):
            cursor.executemany('INSERT INTO %s (%s) VALUES (%s)' % (table, ', '.join(columns), ', '.join(['%s'] * len(columns))), rows[at:at + size])


LISTS = ['users', 'devel', 'announce', 'packaging', 'translations', 'documentation', 'security', 'embedded', 'website', 'testing', 'events', 'board']
put('hyperkitty_mailinglist', ['id', 'name', 'list_id', 'display_name', 'description', 'subject_prefix', 'archive_policy', 'created_at', 'archive_rendering_mode'],
    [(i + 1, name + '@lists.field.example', name + '.lists.field.example', name.capitalize(), 'All about ' + name, '[%s] ' % name, 2, LAST - datetime.timedelta(seconds=SPAN), 'markdown' if i % 5 == 3 else 'text') for i, name in enumerate(LISTS)])

FIRST = 'Anna Ben Carla David Emma Felix Grace Hugo Ines Jan Kate Leo Mia Noah Olga Paul Rosa Sam Tina Victor'.split()
FAMILY = 'Adams Baker Cole Dahl Evans Fischer Gray Hall Ivers Jones Keller Lopez Moore Novak Olsen Price Quinn Reed Stone Turner Unger Vogel Weber Young'.split()
people = []
for i in range(PEOPLE):
    first, family = rnd.choice(FIRST), rnd.choice(FAMILY)
    people.append(('%s.%s%d@mail%d.example' % (first.lower(), family.lower(), i, i % 40), '%s %s' % (first, family), uuid.UUID(int=rnd.getrandbits(128)).hex))
put('hyperkitty_sender', ['address', 'mailman_id'], [(address, known) for address, _, known in people])

# Readers who can log in are those who write most. All have one password.
password = make_password('reader-password', 'seasalt')
since = LAST - datetime.timedelta(seconds=SPAN)
put('auth_user', ['id', 'password', 'last_login', 'is_superuser', 'username', 'first_name', 'last_name', 'email', 'is_staff', 'is_active', 'date_joined'],
    [(100 + i, password, None, 0, 'reader%d' % i, *people[i][1].split(), people[i][0], 0, 1, since) for i in range(USERS)])
put('account_emailaddress', ['user_id', 'email', 'verified', '`primary`'], [(100 + i, people[i][0], 1, 1) for i in range(USERS)])
put('hyperkitty_profile', ['user_id', 'karma'], [(100 + i, 1) for i in range(USERS)])
put('django_mailman3_profile', ['user_id', 'timezone'], [(100 + i, '') for i in range(USERS)])

START = ['Since the last release', 'After the update', 'As said before', 'On the test machine', 'With an empty list', 'When it is done twice', 'As the manual says', 'For some of us', 'With a new account', 'From the mobile client', 'Before the next release', 'As a first step', 'If I understand this right', 'To be honest']
WHAT = ['the import', 'the report', 'the dialogue', 'the search', 'the form', 'the server', 'the nightly job', 'the address book', 'the export', 'the account page', 'the build', 'the package', 'the translation', 'the test suite']
DOES = ['does not answer', 'shows an error with the number 4711', 'was switched off', 'needs a restart', 'takes about ten seconds', 'asks for a password again and again', 'loses what was typed in', 'works only for some of us', 'should be sorted by name', 'stops after a timeout', 'has moved to another page', 'must be changed until Friday', 'is the same as in the branch', 'looks right to me']
sentence = zipf(8000, 0.3)
SENTENCES = ['%s %s %s.' % (rnd.choice(START), rnd.choice(WHAT), rnd.choice(DOES)) for _ in range(8000)]
KIND = ['Error in', 'Cannot build', 'Slow', 'Question about', 'Proposal for', 'Timeout in', 'Broken link in', 'Change of', 'Missing translation of', 'New version of', 'Review of', 'Update of', 'Crash in', 'Tests for']
THING = ['the calendar', 'the login page', 'the importer', 'the price list', 'the address form', 'the nightly report', 'the search', 'the backup job', 'the mobile view', 'the mail server', 'the file upload', 'the test environment', 'the new parser', 'the packages', 'the handbook', 'the mirror']


def text(quoted, name):
    """A mail: paragraphs, now and then what it answers, code, a link."""
    out = []
    if quoted:
        out += ['> ' + line for line in quoted.split('\n') if not line.startswith('> >')][:rnd.randint(3, 14)] + ['']
    for _ in range(1 + min(9, int(rnd.expovariate(0.6)))):
        words, line = ' '.join(SENTENCES[sentence()] for _ in range(rnd.randint(1, 5))).split(), ''
        for word in words:
            if len(line) + len(word) > 71:
                out.append(line)
                line = ''
            line = line + ' ' + word if line else word
        out += [line, '']
    kind = rnd.random()
    if kind < 0.12:
        out += ['    for line in order.lines:', '        total += line.price * line.count', '    print(total)', '']
    elif kind < 0.24:
        out += ['See https://www.field.example/doc/%d.html for more.' % rnd.randint(1, 900), '']
    elif kind < 0.28:
        out += ['@@ -%d,6 +%d,7 @@' % (rnd.randint(1, 900), rnd.randint(1, 900)), '-    return None', '+    return []', '']
    return '\n'.join(out + ['-- ', name])


pick_list, pick_person = zipf(len(LISTS)), zipf(PEOPLE, 0.9)
# Sizes of threads: half have one or two mails, a few a hundred.
sizes = [min(100, int((1 - rnd.random()) ** -0.85)) for _ in range(THREADS)]
while sum(sizes) < MAILS:
    sizes[rnd.randrange(THREADS)] += rnd.randint(1, 6)
while sum(sizes) > MAILS:
    i = rnd.randrange(THREADS)
    sizes[i] -= sizes[i] > 1
starts = sorted(int(SPAN * rnd.random() ** 0.8) for _ in range(THREADS))
mails = []  # [time, thread, parent, depth, order, list, person, subject, text]
for n in range(THREADS):
    which, subject = pick_list(), '%s %s (%d)' % (rnd.choice(KIND), rnd.choice(THING), rnd.randint(1, 999))
    circle = [pick_person() for _ in range(2 + sizes[n] // 3)]
    tree = []
    for k in range(sizes[n]):
        parent = None if k == 0 else tree[max(0, k - 1 - int(rnd.expovariate(0.5)))]
        at = starts[n] if k == 0 else min(SPAN - 60, parent[0] + 120 + int(rnd.expovariate(1 / 40000)))
        person = circle[0] if k == 0 else rnd.choice(circle)
        mail = [at, n, parent, 0 if k == 0 else parent[3] + 1, 0, which, person, subject if k == 0 else 'Re: ' + subject, text(parent and parent[8], people[person][1]), []]
        if parent:
            parent[9].append(mail)
        tree.append(mail)
    walk, order = [tree[0]], 0
    while walk:
        mail = walk.pop()
        mail[4], order = order, order + 1
        walk += sorted(mail[9], key=lambda m: -m[0])
    mails += tree
mails.sort(key=lambda m: m[0])
heads, active = {}, {}
for i, mail in enumerate(mails):
    mail.append(i + 1)
    mail.append('%d.%d@%s' % (mail[0], i, people[mail[6]][0].split('@')[1]))
    mail.append(get_message_id_hash(mail[11]))
    if mail[2] is None:
        heads[mail[1]] = mail
    active[mail[1]] = mail[0]
when = lambda at: LAST - datetime.timedelta(seconds=SPAN - at)
put('hyperkitty_thread', ['id', 'mailinglist_id', 'thread_id', 'date_active', 'category_id', 'starting_email_id'],
    [(n + 1, heads[n][5] + 1, heads[n][12], when(active[n]), None, heads[n][10]) for n in range(THREADS)])
put('hyperkitty_email', ['id', 'mailinglist_id', 'message_id', 'message_id_hash', 'sender_id', 'sender_name', 'subject', 'content', 'date', 'timezone', 'in_reply_to', 'parent_id', 'thread_id', 'archived_date', 'thread_depth', 'thread_order'],
    [(m[10], m[5] + 1, m[11], m[12], people[m[6]][0], people[m[6]][1], m[7], m[8], when(m[0]), rnd.choice([0, 0, 60, 120, -300]), m[2] and m[2][11], m[2] and m[2][10], m[1] + 1, when(m[0] + 5), m[3], m[4]) for m in mails])
# One mail of twenty carries something.
put('hyperkitty_attachment', ['email_id', 'counter', 'name', 'content_type', 'encoding', 'size', 'content'],
    [(m[10], 2, 'log-%d.txt' % m[10], 'text/plain', 'utf-8', len(body), body) for m in mails if rnd.random() < 0.05 for body in ['\n'.join(SENTENCES[sentence()] for _ in range(rnd.randint(5, 150))).encode()]], 200)

# What readers did: the newer, the more.
recent = lambda n: n - 1 - min(n - 1, int(n * rnd.random() ** 2.2))
reader = zipf(USERS, 0.7)
votes = {(recent(MAILS) + 1, 100 + reader()): 1 if rnd.random() < 0.85 else -1 for _ in range(12000)}
put('hyperkitty_vote', ['email_id', 'user_id', 'value'], [(email, user, value) for (email, user), value in votes.items()])
TAGS = [a + b for a in ['bug', 'release', 'build', 'howto', 'draft', 'windows', 'linux', 'policy', 'question', 'urgent'] for b in ['', '-old', '-next', '-done', '-open', '-later']]
put('hyperkitty_tag', ['id', 'name'], [(i + 1, name) for i, name in enumerate(TAGS)])
tag = zipf(len(TAGS))
put('hyperkitty_tagging', ['thread_id', 'tag_id', 'user_id'], sorted({(recent(THREADS) + 1, tag() + 1, 100 + reader()) for _ in range(4000)}))
put('hyperkitty_favorite', ['thread_id', 'user_id'], sorted({(recent(THREADS) + 1, 100 + reader()) for _ in range(3000)}))
views = sorted({(recent(THREADS) + 1, 100 + reader()) for _ in range(15000)})
put('hyperkitty_lastview', ['thread_id', 'user_id', 'view_date'], [(thread, user, when(min(SPAN - 1, active[thread - 1] + rnd.randint(-40000, 400000)))) for thread, user in views])
