// Find samples by their ids: the same id first, then those that begin with the text, then those that hold it.
const search = byId("search"), MOST_FOUND = 24;

function findSamples(text) {
  const wanted = text.trim().toLowerCase(), found = [[], [], []];
  let count = 0;
  if (!wanted) return { count, samples: [] };
  for (let i = 0; i < n; i++) {
    const id = idOf(i).toLowerCase(), at = id.indexOf(wanted);
    if (at < 0) continue;
    count += 1;
    found[id === wanted ? 0 : at === 0 ? 1 : 2].push(i);
  }
  return { count, samples: found.flat().slice(0, MOST_FOUND) };
}

function drawFound() {
  const { count, samples } = findSamples(search.value), asked = search.value.trim() !== "";
  byId("found").textContent = !asked ? "" : !count ? `No${n < content.n ? `ne of the ${grouped(n)} samples in this page` : " sample"} has this in its id.`
    : `${counted(count)}${count > samples.length ? `, the first ${samples.length}` : ""}`;
  byId("results").replaceChildren(...samples.map((i) => content.thumbs ? captioned(i, samples, idOf(i).split("/").pop()) : sampleButton(i, 44, samples)));
  byId("results").hidden = !samples.length;
  return samples;
}
search.addEventListener("input", drawFound);
search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { search.value = ""; drawFound(); }
  if (event.key !== "Enter") return;
  const samples = drawFound();
  if (samples.length) openLarge(samples[0], samples);
});
