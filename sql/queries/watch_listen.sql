-- Hears of dead letters coming and going.
LISTEN leasetop_dead
