// An application that compiles its view at each request unless NODE_ENV is
// production, as Express does ("view cache").
const http = require('http');

const view = 'let total = 0; for (let i = 0; i < 20000; i++) total += i * i; '
  + '/* ' + 'a long view '.repeat(2000) + '*/'
  + Array.from({ length: 400 }, (_, i) => `const part${i} = () => ${i};`).join(' ')
  + " return 'sum ' + total + '\\n';";
let compiled = 0;
let kept = null;

function page() {
  if (kept) return kept();
  compiled++;
  const made = new Function('/* ' + compiled + ' */ ' + view); // other text, so that V8 has not kept it
  if (process.env.NODE_ENV === 'production') kept = made;
  return made();
}

http.createServer((req, res) => {
  if (req.url === '/compiled') return res.end(String(compiled));
  if (req.url === '/env') return res.end(String(process.env.NODE_ENV));
  res.end(page());
}).listen(Number(process.argv[2]), '127.0.0.1');
