interface ProfileDescription {
  name: string;
  text: string;
}

/** By name, as the page lists them. What the profiles are here, where Go's are something else. */
const PROFILES: readonly ProfileDescription[] = [
  { name: 'allocs', text: 'A sampling of memory allocations over the next seconds (GET parameter seconds, 5 unless given)' },
  { name: 'block', text: 'Empty: JavaScript has one thread and no locks' },
  { name: 'cmdline', text: 'The command line invocation of the current program' },
  { name: 'goroutine', text: 'Requests under way with the stage that each is in, and what the event loop waits for. Use debug=2 to see requests one by one.' },
  {
    name: 'heap',
    text: 'A sampling of allocations over the next seconds (5 unless given) that are still live in the end, and the rest of the memory in sum. With gc=1 garbage is collected first.',
  },
  { name: 'mutex', text: 'Empty: JavaScript has one thread and no locks' },
  { name: 'profile', text: 'CPU profile. You can specify the duration in the seconds GET parameter (30 unless given). Read it with go tool pprof.' },
  { name: 'symbol', text: 'Nothing to look up: function names are in the profiles' },
  { name: 'threadcreate', text: 'Threads of the process by name' },
  { name: 'trace', text: 'A trace of the event loop, garbage collections and file calls for chrome://tracing or Perfetto (seconds, 1 unless given)' },
];

/** `/debug/pprof/`: the page of Go's net/http/pprof, by which people find the profiles. A heap snapshot is at a path of its own. */
export function indexPage(counts: ReadonlyMap<string, number>): string {
  const rows = PROFILES.map(({ name }) => `<tr><td>${counts.get(name) ?? 0}</td><td><a href='${name}?debug=1'>${name}</a></td></tr>\n`);
  const descriptions = PROFILES.map(({ name, text }) => `<li><div class=profile-name>${name}: </div> ${text}</li>\n`);
  return `<html>
<head>
<title>/debug/pprof/</title>
<style>
.profile-name{
	display:inline-block;
	width:6rem;
}
</style>
</head>
<body>
/debug/pprof/
<br>
<p>Set debug=1 as a query parameter to export in legacy text format</p>
<br>
Types of profiles available:
<table>
<thead><td>Count</td><td>Profile</td></thead>
${rows.join('')}</table>
<a href="goroutine?debug=2">full goroutine stack dump</a>
<br>
<a href="/debug/v8/heapsnapshot">V8 heap snapshot</a> (stops the server while it is taken; holds everything in memory, secrets among it)
<br>
<p>
Profile Descriptions:
<ul>
${descriptions.join('')}</ul>
</p>
</body>
</html>`;
}
