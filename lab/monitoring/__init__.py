"""What the monitoring in deploy/monitoring/ is made and checked with: the dashboard, its picture, and promtool."""
