// Filter, sort and download. The tables are complete without it: it only hides, orders and saves.
// The state of every case table is in the URL's fragment, as NAME.text, NAME.where.COLUMN,
// NAME.sort and NAME.order, so that a link shows what its sender saw.
"use strict";
(() => {
	const collator = new Intl.Collator("en", { numeric: true });

	class CaseTable {
		constructor(root) {
			this.name = root.dataset.suite;
			this.form = root.querySelector("form");
			this.output = root.querySelector("output");
			this.body = root.querySelector("tbody");
			this.headings = [...root.querySelectorAll("thead th")];
			this.labels = this.headings.map((th) => th.firstChild.dataset.sort);
			this.rows = [...this.body.rows];
			this.form.hidden = false;
			this.form.addEventListener("submit", (event) => event.preventDefault());
			this.form.addEventListener("input", () => this.changed());
			this.form.addEventListener("reset", () => this.restore(new URLSearchParams(), true));
			this.headings.forEach((th, column) =>
				th.firstChild.addEventListener("click", () => this.toggle(column)));
		}

		controls() {
			return [...this.form.elements].filter((control) => control.name);
		}

		toggle(column) {
			const again = column === this.column;
			this.descending = again && !this.descending;
			this.column = column;
			this.changed();
		}

		changed() {
			this.filter();
			this.sort();
			saveFragment();
		}

		filter() {
			const words = this.form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
			const wanted = this.controls()
				.filter((control) => control.name.startsWith("where.") && control.value)
				.map((control) => [this.labels.indexOf(control.name.slice(6)), control.value]);
			let shown = 0;
			for (const row of this.rows) {
				const text = row.textContent.toLowerCase();
				row.hidden = !words.every((word) => text.includes(word))
					|| !wanted.every(([column, value]) => cellValue(row, column) === value);
				shown += row.hidden ? 0 : 1;
			}
			this.output.value = `${shown} of ${this.rows.length} cases`;
		}

		sort() {
			this.headings.forEach((th, column) => th.setAttribute("aria-sort",
				column !== this.column ? "none" : this.descending ? "descending" : "ascending"));
			if (this.column === undefined) {
				this.body.append(...this.rows);
				return;
			}
			const numeric = this.headings[this.column].classList.contains("number");
			const sign = this.descending ? -1 : 1;
			const keyed = this.rows.map((row) => [cellValue(row, this.column), row]);
			keyed.sort(([a], [b]) => {
				if (a === "" || b === "") return (a === "") - (b === "");
				return sign * (numeric ? a - b : collator.compare(a, b));
			});
			this.body.append(...keyed.map(([, row]) => row));
		}

		save(fragment) {
			for (const control of this.controls()) {
				if (control.value) fragment.set(`${this.name}.${control.name}`, control.value);
			}
			if (this.column === undefined) return;
			fragment.set(`${this.name}.sort`, this.labels[this.column]);
			if (this.descending) fragment.set(`${this.name}.order`, "descending");
		}

		restore(fragment, save = false) {
			for (const control of this.controls()) {
				control.value = fragment.get(`${this.name}.${control.name}`) ?? "";
				// A select has no such value when the link is older than the page.
				if (control.selectedIndex === -1) control.value = "";
			}
			const column = this.labels.indexOf(fragment.get(`${this.name}.sort`));
			this.column = column === -1 ? undefined : column;
			this.descending = fragment.get(`${this.name}.order`) === "descending";
			this.filter();
			this.sort();
			if (save) saveFragment();
		}
	}

	// The cell of a failed case that spans the figures has no value: it is a missing one.
	function cellValue(row, column) {
		const cell = row.cells[column];
		if (!cell || cell.colSpan > 1) return "";
		return cell.dataset.value ?? cell.textContent;
	}

	function saveFragment() {
		const fragment = new URLSearchParams();
		tables.forEach((table) => table.save(fragment));
		history.replaceState(null, "", `#${fragment}`);
	}

	// A fragment without "=" is an anchor within the page and says nothing about the tables.
	function restoreFragment() {
		const text = location.hash.slice(1);
		if (text && !text.includes("=")) return;
		const fragment = new URLSearchParams(text);
		tables.forEach((table) => table.restore(fragment));
	}

	function csv(sheet) {
		const field = (value) => {
			const text = value === null ? "" : String(value);
			return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
		};
		return [sheet.columns, ...sheet.rows]
			.map((row) => `${row.map(field).join(",")}\r\n`).join("");
	}

	function fill(link) {
		if (link.protocol === "blob:") return;
		const text = document.getElementById(link.dataset.from).textContent;
		const sheet = link.dataset.sheet;
		const parts = [sheet ? csv(JSON.parse(text)[sheet]) : text];
		const type = sheet ? "text/csv" : "application/json";
		link.href = URL.createObjectURL(new Blob(parts, { type }));
	}

	for (const links of document.querySelectorAll(".downloads")) {
		links.hidden = false;
		for (const link of links.querySelectorAll("a")) {
			link.addEventListener("click", () => fill(link));
		}
	}
	const tables = [...document.querySelectorAll(".cases")].map((root) => new CaseTable(root));
	restoreFragment();
	window.addEventListener("hashchange", restoreFragment);
})();
