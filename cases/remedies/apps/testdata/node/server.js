// An application that takes a moment of CPU, in as many processes as
// WEB_CONCURRENCY says.
const cluster = require('cluster');
const http = require('http');

if (cluster.isMaster) {
  for (let i = 0; i < Number(process.env.WEB_CONCURRENCY || 1); i++) cluster.fork();
  cluster.on('exit', () => cluster.fork());
  process.on('SIGTERM', () => process.exit(0)); // workers follow when their channel closes
} else {
  http.createServer((req, res) => {
    let total = 0;
    for (let again = 0; again < 20; again++) {
      total = 0;
      for (let i = 0; i < 20000; i++) total += i * i;
    }
    res.end(`sum ${total}\n`);
  }).listen(Number(process.argv[2]), '127.0.0.1');
}
