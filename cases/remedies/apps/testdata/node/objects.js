// An application that makes many short-lived objects for each request, as one that builds
// answers from rows does.
const http = require('http');
const v8 = require('v8');

function page() {
  const rows = [];
  for (let i = 0; i < 8000; i++) rows.push({ id: i, name: 'row ' + i, tags: [i % 7, i % 11], price: { net: i, gross: i * 1.2 } });
  const answer = rows.map(r => ({ ...r, label: r.name + ':' + r.price.gross })).filter(r => r.tags[0] === 3);
  let total = 0;
  for (let i = 0; i < 20000; i++) total += i * i;
  return answer.length + ' rows, sum ' + total + '\n';
}

http.createServer((req, res) => {
  // That of the old generation and three semi-spaces.
  if (req.url === '/limit') return res.end(String(v8.getHeapStatistics().heap_size_limit / 1048576));
  res.end(page());
}).listen(Number(process.argv[2]), '127.0.0.1');
