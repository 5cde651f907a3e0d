"use strict";
// The dashboard's only script. Pages are complete without it; it adds the theme
// switch, the exchange of a token behind the address, the live panel, and the
// reason of a step on focus. It makes no HTML out of text.

(() => {
  const root = document.documentElement;

  // ---- theme: what the system has, or what was chosen
  const themes = ["system", "light", "dark"];
  const stored = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const setTheme = (name) => {
    if (name === "light" || name === "dark") root.dataset.theme = name;
    else delete root.dataset.theme;
    const b = document.getElementById("theme");
    if (b) { b.hidden = false; b.textContent = "Theme: " + name; }
  };
  setTheme(stored() || "system");

  // ---- token: http://…/#token=… is exchanged for a cookie and forgotten
  if (location.hash.startsWith("#token=")) {
    const token = location.hash.slice("#token=".length);
    history.replaceState(null, "", location.pathname + location.search);
    fetch("/login", { method: "POST", credentials: "same-origin", body: new URLSearchParams({ token }) })
      .then((r) => { location.replace(r.ok ? "/" : "/login"); })
      .catch(() => location.replace("/login"));
  }

  document.addEventListener("DOMContentLoaded", () => {
    setTheme(stored() || "system");
    document.getElementById("theme")?.addEventListener("click", () => {
      const next = themes[(themes.indexOf(stored() || "system") + 1) % themes.length];
      try { localStorage.setItem("theme", next); } catch { /* it holds for this page */ }
      setTheme(next);
    });
    enhance();
    openTarget();
    addEventListener("hashchange", openTarget);
    chooseTwo();
    for (const f of document.querySelectorAll("form[action$='/undo']")) {
      f.addEventListener("submit", () => {
        const b = f.querySelector("button");
        b.disabled = true;
        b.textContent = "Putting it back…";
      });
    }
    if (document.getElementById("live")) follow();
  });

  // A link to something folded opens it.
  function openTarget() {
    const at = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (at instanceof HTMLDetailsElement) { at.open = true; at.scrollIntoView(); }
  }

  // Exactly two runs can be compared. A single one that is ticked goes along to
  // the other pages of the list.
  function chooseTwo() {
    const boxes = [...document.querySelectorAll("input[type=checkbox][name=run]")];
    const button = document.querySelector("form[action='/compare'] .do button");
    if (!button) return;
    const already = document.querySelectorAll("form[action='/compare'] input[type=hidden][name=run]").length;
    const look = () => {
      const ticked = boxes.filter((b) => b.checked), n = already + ticked.length;
      button.disabled = n !== 2;
      for (const b of boxes) b.disabled = n >= 2 && !b.checked;
      if (already) return;
      for (const a of document.querySelectorAll(".pages a")) {
        const to = new URL(a.href);
        if (n === 1) to.searchParams.set("with", ticked[0].value); else to.searchParams.delete("with");
        a.href = to.href;
      }
    };
    for (const b of boxes) b.addEventListener("change", look);
    look();
  }

  // ---- why: rows of the timeline tell their reason on hover and focus, and
  // lead to the step
  function enhance() {
    const why = document.getElementById("why");
    const figure = document.getElementById("timeline");
    if (!why || !figure) return;
    for (const svg of figure.querySelectorAll("svg")) {
      svg.setAttribute("role", "group");
      for (const g of svg.querySelectorAll(":scope > g, :scope > a")) {
        const title = g.querySelector("title")?.textContent || "";
        const leads = g.localName === "a";
        if (!leads) {
          g.setAttribute("tabindex", "0");
          g.setAttribute("role", "img");
        }
        g.setAttribute(leads ? "aria-description" : "aria-label", title);
        // The text below says the same; a second one would cover the picture.
        g.querySelector("title")?.remove();
        const tell = () => { why.textContent = title; };
        g.addEventListener("pointerenter", tell);
        g.addEventListener("focus", tell);
        if (!leads) continue;
        const open = (e) => {
          const d = document.querySelector(g.getAttribute("href"));
          if (!d) return;
          e.preventDefault(); // a key must not also fold what gets the focus
          d.open = true;
          d.scrollIntoView({ block: "center" });
          d.querySelector("summary").focus();
        };
        g.addEventListener("click", open);
        g.addEventListener("keydown", (e) => { if (e.key === "Enter") open(e); });
      }
    }
  }

  // ---- live
  const $ = (id) => document.getElementById(id);
  const put = (id, text) => { const e = $(id); if (e && e.textContent !== text) e.textContent = text; };
  const svgNS = "http://www.w3.org/2000/svg";

  function follow() {
    const part = $("refresh");
    const mine = Number(part.dataset.session);
    const newest = location.pathname === "/";
    const seen = (steps, judged, ended) => [steps, judged, ended].join();
    let last = seen(part.dataset.steps, part.dataset.judged, part.dataset.running !== "true");
    let source, busy = false, again = false, over = false, hurry = () => {}, deadline = 0, budget = 0;

    const connect = () => {
      source = new EventSource("/events");
      source.addEventListener("open", () => { $("lost").hidden = true; });
      source.addEventListener("live", (e) => show(JSON.parse(e.data)));
      source.addEventListener("error", () => {
        put("lost", over ? "The session has ended and nobody answers here any more; this is its last state." : "The connection is lost; trying again.");
        $("lost").hidden = false;
        // Refused (too many viewers, logged out): the browser has given up.
        if (source.readyState === EventSource.CLOSED) setTimeout(connect, 10000);
      });
    };
    connect();
    setInterval(clock, 1000);

    function clock() {
      if (!deadline) { put("left", ""); return; }
      const left = Math.max(0, (deadline - Date.now()) / 1000);
      const h = Math.floor(left / 3600), m = Math.floor(left / 60) % 60, s = Math.floor(left % 60);
      put("left", (h ? h + "h" : "") + (h || m ? m + "m" : "") + (h ? "" : s + "s") + " of the budget left");
      $("budget").value = 1 - left / budget;
    }

    function show(now) {
      if (newest && now.session && now.session !== mine) { location.reload(); return; }
      if (now.session && now.session !== mine) return;
      $("live").hidden = false;
      const same = now.trying && now.doing.endsWith(now.trying.title); // it stands below
      put("doing", (same ? "Judging step " + now.trying.seq : now.doing) + (now.busy ? " (" + now.busy + ")" : ""));
      deadline = now.budget ? Date.now() + now.left * 1000 : 0;
      budget = now.budget || 1;
      $("budget").hidden = !deadline;
      clock();
      trying(now.trying);
      gauges(now);
      for (const s of now.said || []) say(s);
      if (!now.session) return;
      over = !!now.ended;
      const is = seen(now.steps, now.judged, over);
      if (is === last) return;
      last = is;
      refresh();
      if (over) hurry(); // who serves may be about to end
    }

    // The rest of the page is made on the server; it comes again when a step
    // begins and when it has ended, at most every two seconds, and at once when
    // the session has ended. What ends meanwhile is one more time.
    async function refresh() {
      again = true;
      if (busy) return;
      busy = true;
      while (again) {
        again = false;
        await pause(300); // all that is stored of a step
        try {
          const r = await fetch(location.href, { credentials: "same-origin" });
          if (r.ok) replace(new DOMParser().parseFromString(await r.text(), "text/html"));
        } catch { /* the next step tries again */ }
        if (!over || !again) await Promise.race([pause(1700), new Promise((done) => { hurry = done; })]);
      }
      busy = false;
    }
  }

  const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

  function replace(page) {
    for (const fresh of page.querySelectorAll("[data-part]")) {
      const old = $(fresh.id);
      if (!old) continue;
      const open = [...old.querySelectorAll("details[id][open]")].map((d) => d.id);
      const focus = document.activeElement?.closest("details[id]")?.id;
      old.replaceChildren(...fresh.childNodes);
      Object.assign(old.dataset, fresh.dataset);
      for (const id of open) { const d = $(id); if (d) d.open = true; }
      if (focus && document.activeElement === document.body) $(focus)?.querySelector("summary")?.focus({ preventScroll: true });
    }
    enhance();
  }

  function trying(t) {
    $("trying").hidden = !t;
    if (!t) return;
    put("try-title", t.seq + ". " + t.title);
    put("try-why", t.why);
    // Without the most pairs all that is known is what the store holds.
    put("try-effect", t.effect || (t.most ? "no effect known yet" : ""));
    const pairs = t.most ? t.pairs + " of at most " + t.most + " pairs" : t.pairs ? t.pairs + (t.pairs === 1 ? " pair" : " pairs") + " so far" : "";
    put("try-pairs", [pairs + (t.side ? ", now the " + t.side : ""), t.bound ? "could bring at most " + t.bound : ""].filter(Boolean).join("; "));
    const svg = $("try-interval");
    svg.replaceChildren();
    svg.toggleAttribute("hidden", !t.effect);
    if (!t.effect) return;
    svg.setAttribute("aria-label", "Effect so far: " + t.effect);
    const known = t.low < t.high; // one pair has no interval
    const at = (v) => Math.log(Math.max(0.001, 1 + v)); // twice and half are as far
    const ends = [0, at(t.mean)].concat(known ? [at(t.low), at(t.high)] : []);
    const pad = Math.max(0.05, (Math.max(...ends) - Math.min(...ends)) * 0.1);
    const lo = Math.min(...ends) - pad, hi = Math.max(...ends) + pad;
    const x = (v) => (100 * (at(v) - lo) / (hi - lo)).toFixed(2) + "%";
    const add = (name, attrs) => {
      const e = document.createElementNS(svgNS, name);
      for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
      svg.append(e);
      return e;
    };
    add("line", { class: "zero", x1: x(0), x2: x(0), y1: 2, y2: 38 });
    const right = -lo < 0.7 * (hi - lo); // room beside the line
    add("text", { class: "tick", x: x(0), dx: right ? 5 : -5, y: 36, "text-anchor": right ? "start" : "end" }).textContent = "no effect";
    if (known) add("line", { class: "whisker", x1: x(t.low), x2: x(t.high), y1: 17, y2: 17 });
    add("circle", { class: "dot", cx: x(t.mean), cy: 17, r: 6 });
  }

  // spark draws values, newest last, from 0 to top.
  function spark(line, values, top) {
    const n = Math.max(values.length - 1, 1);
    line.setAttribute("points", values.map((v, i) => (100 * i / n).toFixed(2) + "," + (98 - 96 * Math.min(1, v / top)).toFixed(2)).join(" "));
  }

  function gauges(now) {
    const rates = now.rates || [];
    $("rate").hidden = rates.length < 2 && !now.load;
    put("rate-now", now.load ? now.load.rate : "");
    const run = now.last ? "run " + now.last : ""; // the last one that is stored
    put("rate-more", now.load ? (run || now.load.phase) + (now.load.p50 ? ", p50 " + now.load.p50 + ", p99 " + now.load.p99 + ", failed " + now.load.failed : "") : "between runs");
    $("rate").querySelector("svg").toggleAttribute("hidden", rates.length < 2);
    if (rates.length > 1) spark($("rate").querySelector("polyline"), rates, Math.max(...rates, 1) * 1.05);
    for (const c of now.cpu || []) {
      const id = "cpu-" + c.host;
      let f = $(id);
      if (!f) {
        f = $("rate").cloneNode(true);
        f.id = id;
        f.hidden = false;
        for (const e of f.querySelectorAll("[id]")) e.removeAttribute("id");
        f.querySelector("figcaption").firstChild.textContent = "CPU of " + c.host + " ";
        f.querySelector("svg").setAttribute("aria-label", "CPU of " + c.host);
        $("gauges").append(f);
      }
      f.querySelector("strong").textContent = c.now || "";
      f.querySelector("p").textContent = "of all its CPUs" + (run ? ", " + run : "");
      f.querySelector("svg").toggleAttribute("hidden", (c.uses || []).length < 2);
      if ((c.uses || []).length > 1) spark(f.querySelector("polyline"), c.uses, 1);
    }
  }

  function say(s) {
    const li = document.createElement("li");
    li.className = s.level === "warning" ? "bad" : "";
    li.textContent = s.text + (s.hint ? " (" + s.hint + ")" : "");
    const list = $("said");
    list.prepend(li);
    while (list.children.length > 6) list.lastChild.remove();
  }
})();
