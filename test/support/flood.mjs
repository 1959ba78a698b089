// A client that wants all that it can get, in a process of its own: node flood.mjs <port> <ca file> <token> <path> <connections>
// Every connection sends its next request when it has its answer, or when Retry-After says so, as client-go does. Says `flooding` when each has had an
// answer; when its input ends, it lets the last answers in and prints how many it had of each status, how many requests had none, and the median time
// that an answer took.
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';

const [port, caFile, token, path, connections] = process.argv.slice(2);
const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`);
const ca = readFileSync(caFile);
const answers = {};
const durationsMs = [];
let sent = 0;
let answered = 0;
let begun = 0;
let isOver = false;

function open() {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), ca, ALPNProtocols: ['http/1.1'] });
    let received = '';
    let hasBegun = false;
    let sentAtMs = 0;
    const send = () => {
      if (isOver) return socket.end(resolve);
      sent++;
      sentAtMs = performance.now();
      socket.write(request);
    };
    const take = (head, body) => {
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
      if (body.length < length) return;
      received = '';
      answered++;
      durationsMs.push(performance.now() - sentAtMs);
      const status = head.slice(9, 12);
      answers[status] = (answers[status] ?? 0) + 1;
      if (!hasBegun && ++begun === Number(connections)) process.stdout.write('flooding\n');
      hasBegun = true;
      const seconds = Number(/^retry-after: (\d+)/im.exec(head)?.[1] ?? 0);
      if (seconds > 0) setTimeout(send, seconds * 1000);
      else send();
    };
    socket.on('secureConnect', send);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const end = received.indexOf('\r\n\r\n');
      if (end >= 0) take(received.slice(0, end), received.slice(end + 4));
    });
    socket.on('error', resolve);
    socket.on('close', resolve);
  });
}

process.stdin.on('end', () => {
  isOver = true;
});
process.stdin.resume();
await Promise.all(Array.from({ length: Number(connections) }, open));
const medianMs = durationsMs.toSorted((a, b) => a - b)[durationsMs.length >> 1];
process.stdout.write(`${JSON.stringify({ answers, unanswered: sent - answered, medianMs })}\n`);
process.exit(0);
