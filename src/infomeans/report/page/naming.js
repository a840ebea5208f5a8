// Merging clusters, taking them apart, and saving what they are called.
const tell = (text) => { byId("said").textContent = text; };

function mergeChoice(root) {
  const others = names.roots().filter((other) => other !== root);
  if (!others.length) return [];
  const select = make("select", { className: "merge" }, ...others.map((other) => make("option", { value: other }, names.of(other))));
  select.setAttribute("aria-label", `What to merge cluster ${root} with`);
  const button = make("button", { type: "button", className: "join" }, "Merge with");
  button.addEventListener("click", () => {
    const other = Number(select.value);
    tell(`${names.of(root)} and ${names.of(other)} are one now.`);
    names.merge(root, other);
  });
  return [make("span", { className: "row" }, button, select)];
}

function partsLine(root) {
  const members = names.members(root);
  if (members.length < 2) return [];
  const line = make("div", { className: "parts" }, "clusters ");
  members.forEach((member) => {
    const button = make("button", { type: "button" }, member + " ✕");
    button.setAttribute("aria-label", `Take cluster ${member} out`);
    button.addEventListener("click", () => {
      tell(`Cluster ${member} stands alone again.`);
      names.split(member);
      if (!clusterView.open) byId("cluster-" + member).querySelector("input").focus();
    });
    line.append(button);
  });
  return [line];
}

byId("save").addEventListener("click", () => {
  const blob = new Blob([JSON.stringify(names.plain(), null, 2) + "\n"], { type: "application/json" });
  const link = make("a", { href: URL.createObjectURL(blob), download: "names.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  tell("names.json is saved.");
});
byId("reset").addEventListener("click", () => {
  if (!confirm("Forget all names and merges in this browser?")) return;
  names.forget();
  tell("All names and merges are forgotten.");
});
