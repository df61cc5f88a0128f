-- Hears what watch_echo.sql sends.
LISTEN leasetop_echo
