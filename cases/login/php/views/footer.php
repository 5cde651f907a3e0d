</main>
<footer class="footer">Kiln Street Bank. Never tell anyone your password.</footer>
</body>
</html>
