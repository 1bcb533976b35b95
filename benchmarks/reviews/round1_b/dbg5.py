from trace_gym.statements import find_values
for t in ["departs on 2024-05-20 at 6:35 PM","departs 2024-05-20, 6:35 PM","departs 2024-05-20 6:35 PM","leaves 2024-05-20 at 06:35 PM","2024-05-20 (6:35 PM)","2024-05-20: 6:35 PM","2024-05-20 6:35 p.m.","2024-05-20, 6:35pm","2024-05-20 | 6:35 PM"]:
    print([(v.kind,v.value) for v in find_values(t)],t)
