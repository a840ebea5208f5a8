// What the reader calls the clusters, and which of them are one; kept in this browser. A name is kept as it
// was typed, with the cluster that it was typed for, or with all clusters of the group.
const names = {
  given: {},
  groups: [],
  before: {},
  listeners: [],

  // What was kept counts as long as the page still says what it said then.
  load() {
    const kept = this.kept() || content.names;
    this.given = { ...kept.names };
    this.groups = kept.merge.map((group) => [...group]);
  },
  kept() {
    try {
      const { page, names: given, merge } = JSON.parse(remember.get("names:" + content.run));
      const clusters = [...Object.keys(given), ...merge.flat()].map(Number);
      const sound = clusters.every((cluster) => Number.isInteger(cluster) && cluster >= 0 && cluster < k)
        && Object.values(given).every((name) => typeof name === "string")
        && new Set(merge.flat()).size === merge.flat().length;
      return sound && page === JSON.stringify(content.names) ? { names: given, merge } : null;
    } catch (error) {
      return null;
    }
  },
  root(cluster) {
    const group = this.groups.find((members) => members.includes(cluster));
    return group ? Math.min(...group) : cluster;
  },
  members(root) {
    const group = this.groups.find((members) => members.includes(root));
    return group ? [...group].sort((a, b) => a - b) : [root];
  },
  roots() {
    return [...Array(k).keys()].filter((cluster) => this.root(cluster) === cluster);
  },
  // What a group was called: the names of its clusters, each once. Nothing ever takes it apart again.
  title(root) {
    return [...new Set(this.members(root).map((member) => this.given[member]).filter(Boolean))].join(" + ");
  },
  of(cluster) {
    const root = this.root(cluster), title = (one) => this.title(one) || "cluster " + one, name = title(root);
    const twins = this.title(root) && this.roots().some((other) => other !== root && title(other) === name);
    return twins ? `${name} (${root})` : name;
  },
  rename(root, text) {
    const name = text.trim().replace(/\s+/g, " "), members = this.members(root);
    const together = members.length > 1 && members.every((one) => this.given[one] === this.given[root]);
    for (const one of members) {
      if (!together) this.before[one] = members.length > 1 ? this.given[one] : undefined;
      if (name) this.given[one] = name; else delete this.given[one];
    }
    this.changed(false);
  },
  merge(a, b) {
    const joined = [...new Set([...this.members(a), ...this.members(b)])].sort((x, y) => x - y);
    this.groups = this.groups.filter((group) => !group.some((member) => joined.includes(member)));
    this.groups.push(joined);
    this.changed(true);
  },
  split(cluster) {
    const group = this.members(cluster), rest = group.filter((member) => member !== cluster);
    this.groups = this.groups.filter((members) => !members.includes(cluster));
    if (rest.length > 1) this.groups.push(rest);
    // A name that others have too was typed for the group; what stands alone again has the one it had before.
    if (rest.some((other) => this.given[other] === this.given[cluster])) {
      delete this.given[cluster];
      for (const one of rest.length > 1 ? [cluster] : group) if (this.before[one]) this.given[one] = this.before[one];
    }
    this.changed(true);
  },
  forget() {
    this.given = {};
    this.groups = [];
    this.changed(true);
  },
  plain() {
    return { format: 1, run: content.run, names: this.given, merge: this.groups };
  },
  changed(regrouped) {
    remember.set("names:" + content.run, JSON.stringify({ page: JSON.stringify(content.names), ...this.plain() }));
    this.listeners.forEach((listener) => listener(regrouped));
  },
};
const k = content.clusters.length;
names.load();

const symbolOf = (cluster) => content.looks[cluster][1];

// The signs on the map, the legend and the cards, as outlines in a square of 16.
const SIGNS = {
  "circle": "M8 3a5 5 0 1 0 .01 0z", "diamond": "M8 2l6 6-6 6-6-6z", "square": "M3 3h10v10H3z",
  "triangle-up": "M8 2l6.5 11h-13z", "cross": "M6 2h4v4h4v4h-4v4H6v-4H2V6h4z",
  "triangle-down": "M8 14l6.5-11h-13z", "x": "M3 5l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z",
  "pentagon": "M8 2l6 4.5L11.7 14H4.3L2 6.5z", "star": "M8 1l2 5h5l-4 3.2L12.5 15 8 11.5 3.5 15 5 9.2 1 6h5z",
  "hexagram": "M8 1l2.2 3.5H14L12 8l2 3.5h-3.8L8 15l-2.2-3.5H2L4 8 2 4.5h3.8z",
};

function signOf(cluster) {
  return draw("svg", { viewBox: "0 0 16 16", class: "sign", "aria-hidden": "true" },
    draw("path", { d: SIGNS[symbolOf(cluster)], style: `fill: ${hueName(cluster)}` }));
}
