"use strict";
// Draws the views that the page embeds as data, one at a time. Statements are in text order, so the
// descendants of a statement follow it: a subtree is a range of numbers.
const views = JSON.parse(document.getElementById("data").textContent);
const KINDS = ["serial", "parallel", "vectorized", "unrolled", "thread", "other"];
const STAGE_COLOURS = 8;
// The length of a run of plain statements from which it is folded, and the number that stay
// visible.
const LONG_RUN = 12, SHOWN_OF_RUN = 3;

function make(tag, className, text, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  element.append(...children);
  return element;
}

function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/// The tokens of C and its dialects.
const C_TOKEN = new RegExp(
  ["(\\/\\/.*|^#.*)", '("[^"]*")',
   "\\b(for|while|if|else|return|goto|break|continue|struct|union|typedef|static|const|inline|extern)\\b",
   "\\b(void|bool|char|short|int|long|float|double|half|size_t|u?int(?:8|16|32|64)?_t|u?(?:char|short|int|long)\\d*|" +
     "float\\d+|half\\d*|__kernel|__global__|__global|__local|__shared__|__private|restrict|__restrict__)\\b",
   "(\\b\\d[\\w.]*(?:[eE][+-]?\\d+\\w*)?)", "([<>&])"].join("|"), "g");
function colouredSource(text) {
  return text.replace(C_TOKEN, (whole, comment, string, keyword, type, literal) => {
    if (comment) return `<span class="comment">${escaped(comment)}</span>`;
    if (string) return `<span class="string">${escaped(string)}</span>`;
    if (keyword) return `<span class="keyword">${keyword}</span>`;
    if (type) return `<span class="call">${type}</span>`;
    if (literal) return `<span class="literal">${literal}</span>`;
    return escaped(whole);
  });
}

const LANGUAGES = { asm: "Machine code", c: "C", opencl: "OpenCL C", cuda: "CUDA C" };

/// Returns the line with the extent of a thread axis in short form.
function withPlainThreads(line) {
  return line.replace(/attr \[IterVar\([^()]*(?:\([^()]*\))?[^()]*, "ThreadIndex", "([\w.]+)"\)\] "thread_extent" = /,
                      'launch_thread "$1", ');
}

const LOOP_TOKEN =
  /("[^"]*")|(@[\w.]+)|\b(for|while|if|else|let|allocate|attr|assert|in|launch_thread)\b|(\b\d[\w.]*(?:[eE][+-]?\d+\w*)?)|([<>&])/g;
function colouredLoops(text) {
  return text.replace(LOOP_TOKEN, (whole, string, call, keyword, literal) => {
    if (string) {
      const kind = { "parallel": "parallel", "vectorized": "vectorized", "unroll": "unrolled",
                     "thread_binding": "thread" }[string.slice(1, -1)];
      return `<span class="${kind ? "kind-" + kind : "string"}">${escaped(string)}</span>`;
    }
    if (call) return `<span class="call">${call}</span>`;
    if (keyword) return `<span class="keyword">${keyword}</span>`;
    if (literal) return `<span class="literal">${literal}</span>`;
    return escaped(whole);
  });
}

function colouredCode(text) {
  const gap = text.indexOf(" ");
  const name = gap < 0 ? text : text.slice(0, gap);
  const rest = gap < 0 ? "" : escaped(text.slice(gap + 1));
  const kind = /^(j|b\.|call|ret|cb)/.test(name) ? "keyword" : "name";
  return `<span class="name ${kind}">${escaped(name)}</span><span>` +
    rest.replace(/%\w+/g, (register) => `<span class="register">${register}</span>`) + "</span>";
}

function seconds(value) {
  const units = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]];
  const [scale, unit] = units.find(([one]) => value >= one) || [1e-9, "ns"];
  return (value / scale).toPrecision(3) + " " + unit;
}

/// Returns 4,194,304 for 4194304; symbolic sizes are unchanged.
function grouped(number) {
  return /^\d+$/.test(number) ? Number(number).toLocaleString("en-US") : number;
}

/// The drawing of one view, with its selection and folds.
class Drawing {
  constructor(view) {
    this.view = view;
    this.marked = [];
    this.stmts = view.stmts.map(([kind, first, last, parent, stage]) =>
      ({ kind: KINDS[kind], first, last, parent, stage }));
    this.stmts.forEach((stmt, n) => { stmt.end = n + 1; });
    for (let n = this.stmts.length - 1; n >= 0; --n) {
      const { parent, end } = this.stmts[n];
      if (parent >= 0) this.stmts[parent].end = Math.max(this.stmts[parent].end, end);
    }
    this.ownerOfLine = this.owners();
    this.folds = this.findFolds();
    this.codeOfStmt = this.stmts.map(() => []);
    view.code.forEach(([kind, , stmt], n) => {
      if (kind === 2 && stmt >= 0) this.codeOfStmt[stmt].push(n);
    });
    this.element = make("section");
    this.element.append(...this.facts());
    this.isSource = view.language !== "asm";
    const panes = make("div", "panes" + (view.code.length ? "" : " single"));
    panes.append(this.loopPane());
    if (view.code.length) panes.append(this.codePane());
    this.status = make("p", "status");
    this.status.setAttribute("role", "status");
    this.element.append(panes, this.status, keys(view.code.length > 0, this.isSource));
    this.refreshFolds();
  }

  // ---- line tables ----

  /// Returns the innermost statement of each line.
  owners() {
    const owners = new Array(this.view.lines.length + 1).fill(-1);
    this.stmts.forEach(({ first, last }, n) => owners.fill(n, first, last + 1));
    return owners;
  }

  /// Returns the folds by line: the last hidden line, and whether the fold is initially closed.
  findFolds() {
    const folds = new Map();
    const isBlock = (stmt) => stmt.last > stmt.first && this.view.lines[stmt.first - 1].endsWith("{");
    for (const stmt of this.stmts)
      if (isBlock(stmt)) folds.set(stmt.first, { last: stmt.last, isFolded: false, more: 0 });
    let run = [];
    const finish = () => {
      if (run.length >= LONG_RUN)
        folds.set(run[SHOWN_OF_RUN - 1].first,
                  { last: run[run.length - 1].last, isFolded: true, more: run.length - SHOWN_OF_RUN });
      run = [];
    };
    for (const stmt of this.stmts) {
      const last = run[run.length - 1];
      const goesOn = last && last.parent === stmt.parent && last.stage === stmt.stage;
      if (stmt.last > stmt.first || (last && !goesOn)) finish();
      if (stmt.last === stmt.first) run.push(stmt);
    }
    finish();
    return folds;
  }

  stageStyle(element, stage) {
    if (stage < 0) return;
    element.style.setProperty("--stage", `var(--stage${stage % STAGE_COLOURS})`);
    const share = this.shareOf(stage);
    if (share) element.style.setProperty("--heat", `${Math.round(share * 85)}%`);
  }

  /// Returns the share of a stage. A stage whose time is part of another's has the share of that
  /// one.
  shareOf(stage) {
    const { share, in: other } = this.view.stages[stage];
    if (share !== null || !other) return share;
    const around = this.view.stages.find((each) => each.name === other);
    return around ? around.share : null;
  }

  // ---- header ----

  facts() {
    const parts = [make("p", "target", this.view.target)];
    if (this.view.refused)
      parts.push(make("p", "refused", "No code: " + this.view.refused));
    if (this.view.stages.length) parts.push(this.stageTable());
    if (this.view.buffers.length) parts.push(this.bufferTable());
    if (this.view.outline) {
      const outline = make("pre", "outline", this.view.outline);
      parts.push(make("details", "", "", make("summary", "", "The schedule as an outline"), outline));
    }
    return parts;
  }

  stageTable() {
    const isTimed = this.view.stages.some((stage) => stage.seconds !== null || stage.in);
    // Stages of block programs have no source lines.
    const isDeclared = this.view.stages.some((stage) => stage.line);
    const heads = ["stage", ...(isDeclared ? ["declared at", ""] : []), ...(isTimed ? ["time", "share"] : [])];
    const table = make("table", "stages");
    table.append(make("tr", "", "", ...heads.map((head) => make("th", "", head))));
    this.view.stages.forEach((stage, n) => {
      const go = make("button", "", stage.name);
      go.title = "Go to its loops";
      go.onclick = () => this.goToStage(n);
      const chip = make("span", "chip");
      const row = make("tr", "", "", make("td", "", "", chip, go));
      if (isDeclared)
        row.append(make("td", "", stage.line), make("td", "", "", make("code", "", stage.source)));
      this.stageStyle(row, n);
      if (isTimed && stage.in) {
        row.append(make("td", "", "in " + stage.in), make("td"));
      } else if (isTimed && stage.seconds !== null) {
        const bar = make("span", "bar", "", make("span"));
        bar.firstChild.style.width = stage.share * 100 + "%";
        row.append(make("td", "number", seconds(stage.seconds)),
                   make("td", "", "", bar, (stage.share * 100).toFixed(1) + " %"));
      }
      table.append(row);
    });
    return make("div", "scroll", "", table);
  }

  bufferTable() {
    const heads = ["buffer", "scope", "computed at", "needed", "allocated", "bytes", "memory"];
    const table = make("table", "buffers");
    table.append(make("tr", "", "", ...heads.map((head) => make("th", "", head))));
    for (const row of this.view.buffers)
      table.append(make("tr", "", "", ...row.map((cell, n) => n < 3
        ? make("td", "", cell)
        : make("td", n > 4 ? "number" : "", "", make("code", "", n > 4 ? grouped(cell) : cell)))));
    const details = make("details", "", "", make("summary", "", "Buffers: required and allocated sizes"),
                         make("div", "scroll", "", table));
    details.open = this.view.buffers.length <= 6;
    return details;
  }

  // ---- panes ----

  pane(className, title, ...buttons) {
    const text = make("div", "text " + className);
    text.tabIndex = 0;
    text.setAttribute("aria-label", title);
    return { text, element: make("div", "pane", "", make("div", "head", "", make("h2", "", title), ...buttons), text) };
  }

  loopPane() {
    const fold = make("button", "", "fold all"), unfold = make("button", "", "unfold all");
    fold.onclick = () => this.foldAll(true);
    unfold.onclick = () => this.foldAll(false);
    const { text, element } = this.pane("loops", "Loops", fold, unfold);
    text.setAttribute("role", "tree");
    const tagged = new Set();
    this.lineRows = this.view.lines.map((line, index) => {
      const n = index + 1, stmt = this.ownerOfLine[n];
      const { stage, first } = stmt < 0 ? { stage: -1, first: 0 } : this.stmts[stmt];
      const begins = stage >= 0 && first === n && !tagged.has(stage) && this.computes(stmt);
      if (begins) tagged.add(stage);
      return this.lineRow(line, n, stage, begins);
    });
    text.append(...this.lineRows.flatMap((row) => row.tag ? [row.tag, row] : [row]));
    text.classList.toggle("timed", this.view.stages.some((each) => each.share !== null));
    for (const [n, fold] of this.folds) if (fold.more) this.addRest(n, fold);
    this.connect(text, this.lineRows, 1, (n) => this.selectLine(n), (n) => this.ownerOfLine[n],
                 (n) => this.jumpToCode(n));
    text.addEventListener("keydown", (event) => this.foldKeys(event));
    this.loops = text;
    return element;
  }

  /// Whether the statement is a loop or a leaf, as opposed to an allocation or a condition around
  /// others.
  computes(stmt) { return this.stmts[stmt].kind !== "other" || this.stmts[stmt].end === stmt + 1; }

  lineRow(line, n, stage, begins) {
    const row = make("div", "row");
    row.id = this.id("line", n);
    row.setAttribute("role", "treeitem");
    row.setAttribute("aria-level", 1 + Math.floor(line.search(/\S|$/) / 2));
    this.stageStyle(row, stage);
    const fold = make("span", "fold");
    const code = make("span");
    code.innerHTML = colouredLoops(withPlainThreads(line));
    row.append(make("span", "line", String(n)), make("span", "heat"), fold, code, make("span", "more"));
    if (begins) {
      const { name, line: place, share, source } = this.view.stages[stage];
      const indent = " ".repeat(line.search(/\S|$/));
      row.tag = make("div", "tag", indent + name + (place ? ", " + place : ""));
      row.tag.title = source;
      this.stageStyle(row.tag, stage);
      if (share) row.children[1].textContent = (share * 100).toFixed(0) + " %";
    }
    if (this.folds.has(n)) fold.onclick = (event) => { this.toggle(n); event.stopPropagation(); };
    return row;
  }

  /// Adds the row that replaces the hidden part of a folded run.
  addRest(n, fold) {
    const indent = " ".repeat(this.view.lines[n - 1].search(/\S|$/));
    fold.rest = make("div", "rest", `${indent}… ${fold.more} more like this`);
    fold.rest.onclick = () => this.toggle(n);
    this.lineRows[n - 1].after(fold.rest);
  }

  codePane() {
    const count = this.view.code.filter(([kind]) => kind === 2).length;
    const { text, element } = this.pane("code", LANGUAGES[this.view.language],
                                        make("span", "", count + (this.isSource ? " lines" : " instructions")));
    if (this.isSource) text.classList.add("source");
    text.setAttribute("role", "listbox");
    this.codeRows = this.view.code.map(([kind, content, stmt, isGuessed], n) => {
      const row = make("div", "row" + (kind === 0 ? " function" : kind === 1 ? " label" : isGuessed ? " guessed" : ""));
      row.id = this.id("code", n);
      row.setAttribute("role", "option");
      if (kind === 2) row.innerHTML = this.isSource ? `<span>${colouredSource(content)}</span>` : colouredCode(content);
      else row.textContent = content + ":";
      if (kind === 2 && stmt >= 0) {
        this.stageStyle(row, this.stmts[stmt].stage);
        row.title = (isGuessed ? "probably part of: " : "") +
          this.view.lines[this.stmts[stmt].first - 1].trim();
      }
      return row;
    });
    text.append(...this.codeRows);
    this.connect(text, this.codeRows, 0, (n) => this.selectCode(n), (n) => this.view.code[n][2],
                 (n) => this.jumpToLine(n));
    this.code = text;
    return element;
  }

  /// Connects mouse and keys of a pane whose rows are numbered from `base`.
  connect(pane, rows, base, select, stmtOf, jump) {
    const number = (event) => {
      const row = event.target.closest(".row");
      return row ? rows.indexOf(row) + base : -1;
    };
    pane.addEventListener("mouseover", (event) => {
      const n = number(event);
      if (n >= base) this.mark(stmtOf(n));
    });
    pane.addEventListener("mouseleave", () => this.mark(this.selected));
    pane.addEventListener("click", (event) => {
      const n = number(event);
      if (n < base) return;
      select(n);
      jump(n);
      pane.focus({ preventScroll: true });
    });
    pane.addEventListener("keydown", (event) => {
      const shown = rows.map((row, n) => n + base).filter((n) => !rows[n - base].hidden);
      const at = Math.max(0, shown.indexOf(this.cursorOf(pane)));
      const page = Math.max(1, Math.floor(pane.clientHeight / 20) - 1);
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
                      Home: -shown.length, End: shown.length };
      if (event.key in moves) {
        select(shown[Math.min(shown.length - 1, Math.max(0, at + moves[event.key]))]);
      } else if (event.key === "Enter") {
        jump(shown[at]);
        (pane === this.loops ? this.code || this.loops : this.loops).focus({ preventScroll: true });
      } else {
        return;
      }
      event.preventDefault();
    });
  }

  id(what, n) { return `${what}-${views.indexOf(this.view)}-${n}`; }
  cursorOf(pane) { return pane === this.loops ? this.line || 1 : this.instruction || 0; }

  // ---- selection ----

  setCursor(pane, row) {
    const before = pane.querySelector(".row.cursor");
    if (before) before.classList.remove("cursor");
    row.classList.add("cursor");
    pane.setAttribute("aria-activedescendant", row.id);
    row.scrollIntoView({ block: "nearest" });
  }

  selectLine(n) {
    this.line = n;
    this.setCursor(this.loops, this.lineRows[n - 1]);
    this.selected = this.ownerOfLine[n];
    this.mark(this.selected);
    this.tellAbout(this.selected);
  }

  selectCode(n) {
    this.instruction = n;
    this.setCursor(this.code, this.codeRows[n]);
    this.selected = this.view.code[n][2];
    this.mark(this.selected);
    this.tellAbout(this.selected);
  }

  /// Marks the lines of the statement, and the code of its whole subtree.
  mark(stmt) {
    for (const row of this.marked) row.classList.remove("marked");
    this.marked = [];
    if (stmt === undefined || stmt < 0) return;
    const { first, last } = this.stmts[stmt];
    for (let n = first; n <= last; ++n) this.marked.push(this.lineRows[n - 1]);
    if (this.codeRows) for (const n of this.codeOf(stmt)) this.marked.push(this.codeRows[n]);
    for (const row of this.marked) row.classList.add("marked");
  }

  codeOf(stmt) {
    const all = [];
    for (let n = stmt; n < this.stmts[stmt].end; ++n) all.push(...this.codeOfStmt[n]);
    return all.sort((a, b) => a - b);
  }

  /// Returns the first instructions of the statement's code fragments. Fragments with exact
  /// attribution precede guessed ones.
  piecesOf(stmt) {
    const code = this.codeOf(stmt);
    const begins = code.filter((n, at) => at === 0 || code[at - 1] !== n - 1);
    const isSure = (n) => !this.view.code[n][3];
    return [...begins.filter(isSure), ...begins.filter((n) => !isSure(n))];
  }

  tellAbout(stmt) {
    if (stmt === undefined || stmt < 0 || !this.codeRows) return;
    const { stage, first } = this.stmts[stmt];
    const instructions = this.codeOf(stmt).length, pieces = this.piecesOf(stmt).length;
    const name = stage < 0 ? "" : this.view.stages[stage].name + ": ";
    const unit = this.isSource ? "line" : "instruction";
    this.status.textContent = name + this.view.lines[first - 1].trim() + ": " +
      (instructions === 0 ? `no ${unit}s of its own`
        : instructions + ` ${unit}` + (instructions === 1 ? "" : "s") +
          (pieces > 1 ? ` in ${pieces} pieces; Enter goes to the next` : ""));
  }

  // ---- jumps ----

  jumpToCode(n) {
    const stmt = this.ownerOfLine[n];
    if (stmt < 0 || !this.code) return;
    const pieces = this.piecesOf(stmt);
    if (!pieces.length) return;
    const next = this.jumpedFrom === stmt ? (this.piece + 1) % pieces.length : 0;
    this.jumpedFrom = stmt;
    this.piece = next;
    this.instruction = pieces[next];
    this.setCursor(this.code, this.codeRows[this.instruction]);
    this.codeRows[this.instruction].scrollIntoView({ block: "center" });
  }

  jumpToLine(n) {
    const stmt = this.view.code[n][2];
    if (stmt < 0) return;
    const line = this.stmts[stmt].first;
    this.show(line);
    this.line = line;
    this.setCursor(this.loops, this.lineRows[line - 1]);
    this.lineRows[line - 1].scrollIntoView({ block: "center" });
  }

  goToStage(stage) {
    const stmt = this.stmts.findIndex((each) => each.stage === stage);
    if (stmt < 0) return;
    this.show(this.stmts[stmt].first);
    this.selectLine(this.stmts[stmt].first);
    this.loops.focus({ preventScroll: true });
  }

  /// Scrolls source code past the common preamble to the first function.
  passOverPreamble() {
    if (!this.code || !this.isSource) return;
    const first = this.view.code.findIndex(([, , stmt]) => stmt >= 0);
    if (first > 8) this.code.scrollTop = this.codeRows[first - 3].offsetTop - this.code.offsetTop;
  }

  // ---- folds ----

  refreshFolds() {
    let hiddenTo = 0;
    this.lineRows.forEach((row, index) => {
      const n = index + 1, fold = this.folds.get(n);
      row.hidden = n <= hiddenTo;
      if (row.tag) row.tag.hidden = row.hidden;
      if (!fold) return;
      row.children[2].textContent = fold.isFolded ? "▸" : "▾";
      row.setAttribute("aria-expanded", String(!fold.isFolded));
      if (fold.rest) fold.rest.hidden = row.hidden || !fold.isFolded;
      else row.querySelector(".more").textContent = fold.isFolded ? " … }" : "";
      if (!row.hidden && fold.isFolded) hiddenTo = fold.last;
    });
  }

  toggle(n) {
    const fold = this.folds.get(n);
    fold.isFolded = !fold.isFolded;
    this.refreshFolds();
  }

  foldAll(isFolded) {
    for (const fold of this.folds.values()) fold.isFolded = isFolded;
    this.refreshFolds();
  }

  /// Unfolds the folds that hide a line.
  show(line) {
    for (const [n, fold] of this.folds) if (n < line && line <= fold.last) fold.isFolded = false;
    this.refreshFolds();
  }

  foldKeys(event) {
    const n = this.line || 1, fold = this.folds.get(n);
    if (event.key === "ArrowLeft") {
      const parent = this.ownerOfLine[n] < 0 ? -1 : this.stmts[this.ownerOfLine[n]].parent;
      if (fold && !fold.isFolded) this.toggle(n);
      else if (parent >= 0) this.selectLine(this.stmts[parent].first);
    } else if (event.key === "ArrowRight") {
      if (fold && fold.isFolded) this.toggle(n);
      else if (n < this.view.lines.length) this.selectLine(n + 1);
    } else if (event.key === " " && fold) {
      this.toggle(n);
    } else {
      return;
    }
    event.preventDefault();
  }
}

function keys(hasCode, isSource) {
  const help = make("p", "keys");
  help.innerHTML = "<kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>←</kbd> <kbd>→</kbd> or <kbd>space</kbd> fold" +
    (!hasCode ? "." : ", <kbd>Enter</kbd> or a click jumps between loops and code." +
      (isSource ? "" : " Instructions in <i>italics</i> were moved by LLVM, or serve several statements: " +
       "they are shown with the smallest statement that contains all of them."));
  return help;
}

// ---- tabs ----

const main = document.getElementById("main");
const drawings = views.map(() => null);

function showView(n) {
  const isNew = !drawings[n];
  drawings[n] = drawings[n] || new Drawing(views[n]);
  main.querySelectorAll("section").forEach((section) => section.remove());
  main.append(drawings[n].element);
  if (isNew) drawings[n].passOverPreamble();
  main.querySelectorAll("[role=tab]").forEach((tab, at) => {
    tab.setAttribute("aria-selected", String(at === n));
    tab.tabIndex = at === n ? 0 : -1;
  });
}

function drawTabs() {
  if (views.length < 2) return;
  const tabs = make("div", "tabs");
  tabs.setAttribute("role", "tablist");
  views.forEach((view, n) => {
    const tab = make("button", "", view.name);
    tab.setAttribute("role", "tab");
    tab.onclick = () => {
      showView(n);
      history.replaceState(null, "", "#" + addressOf(view, n));
    };
    tabs.append(tab);
  });
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const all = [...tabs.children];
    const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
    next.click();
    next.focus();
  });
  main.append(tabs);
}

// Returns the URL fragment of a view: page.html#register%20tile or its number. Views whose names
// are not unique have only their number.
function addressOf(view, n) {
  const isAlone = views.filter((other) => other.name === view.name).length === 1;
  return encodeURIComponent(isAlone ? view.name : String(n + 1));
}

function showLinkedView() {
  const address = location.hash.slice(1);
  const named = views.findIndex((view, n) => addressOf(view, n) === address);
  const number = Math.min(views.length, Math.max(1, parseInt(address, 10) || 1));
  showView(named >= 0 ? named : number - 1);
}

drawTabs();
if (views.length) {
  showLinkedView();
  window.addEventListener("hashchange", showLinkedView);
}
