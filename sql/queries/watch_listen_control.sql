-- Hears of queues paused and resumed, and of jobs that somebody wants cancelled.
LISTEN leasetop_control
