from datetime import datetime, UTC
def due(w):
    r=w.requests[0]; return datetime.fromtimestamp(r.when.due(w.now),UTC)
