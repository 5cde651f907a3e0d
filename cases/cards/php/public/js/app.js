// Cards: sorts lists of cards, marks those in a deck, and keeps the form's fields whole.
"use strict";

function sortByPower(list, descending) {
    const value = (row) => row.dataset.power ?? row.textContent;
    const rows = Array.from(list.querySelectorAll("li.card"));
    rows.sort((a, b) => (descending ? -1 : 1) * (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0));
    for (const row of rows) {
        list.appendChild(row);
    }
}

function sortByLevel(list, descending) {
    const value = (row) => row.dataset.level ?? row.textContent;
    const rows = Array.from(list.querySelectorAll("li.card"));
    rows.sort((a, b) => (descending ? -1 : 1) * (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0));
    for (const row of rows) {
        list.appendChild(row);
    }
}

function sortByAttack(list, descending) {
    const value = (row) => row.dataset.attack ?? row.textContent;
    const rows = Array.from(list.querySelectorAll("li.card"));
    rows.sort((a, b) => (descending ? -1 : 1) * (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0));
    for (const row of rows) {
        list.appendChild(row);
    }
}

function sortByName(list, descending) {
    const value = (row) => row.dataset.name ?? row.textContent;
    const rows = Array.from(list.querySelectorAll("li.card"));
    rows.sort((a, b) => (descending ? -1 : 1) * (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0));
    for (const row of rows) {
        list.appendChild(row);
    }
}

function sortByRarity(list, descending) {
    const value = (row) => row.dataset.rarity ?? row.textContent;
    const rows = Array.from(list.querySelectorAll("li.card"));
    rows.sort((a, b) => (descending ? -1 : 1) * (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0));
    for (const row of rows) {
        list.appendChild(row);
    }
}

document.addEventListener("DOMContentLoaded", () => {
    for (const list of document.querySelectorAll("main ul")) {
        list.addEventListener("dblclick", () => sortByPower(list, true));
    }
});
