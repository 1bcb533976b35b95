"""python play.py TREE NAME ID                show the conversation so far (system prompt, tools at the first time)
python play.py TREE NAME ID say 'TEXT'       write to the customer
python play.py TREE NAME ID call TOOL 'JSON' call a tool"""
import json,sys,os
from pathlib import Path
from trace_gym import registry
from trace_gym.types import Scenario,Call,Say
tree,name,sid,*act=sys.argv[1:]
s=json.loads(Path("scenarios.json").read_text())[sid]
f=Path(f"{tree}/{sid}.json"); f.parent.mkdir(exist_ok=True)
st=json.loads(f.read_text()) if f.exists() else {"by":name,"steps":[]}
ep=registry.start_episode(Scenario(env=s["env"],level=s["level"],seed=s["seed"]))
def do(x):
    if x[0]=="say": ep.step({"role":"assistant","content":x[1]})
    else: ep.step({"role":"assistant","content":"","tool_calls":[{"id":f"c{len(ep.messages)}","type":"function","function":{"name":x[1],"arguments":x[2]}}]})
for x in st["steps"]: do(x)
n=len(ep.messages)
if act:
    if ep.done: print("[the conversation is already over]"); sys.exit()
    x=["say",act[1]] if act[0]=="say" else ["call",act[1],act[2] if len(act)>2 else "{}"]
    if x[0]=="call": json.loads(x[2])
    st["steps"].append(x); do(x); st["done"]=ep.done
    if ep.done: sc=ep.score; st["success"]=bool(getattr(sc,"success",None)); st["score"]=json.loads(json.dumps(sc,default=lambda o:getattr(o,"model_dump",lambda:str(o))()))
    st["messages"]=ep.messages
    f.write_text(json.dumps(st,default=str)); new=ep.messages[n:]
else:
    new=ep.messages
    print("TOOLS"); 
    for t in ep.tools:
        q=t["function"]; ps=q["parameters"]["properties"]; print(" ",q["name"]+"("+", ".join(k+("*" if k in q["parameters"].get("required",[]) else "")+":"+str(v.get("type") or "")+" "+(v.get("description") or "") for k,v in ps.items())+") -",q["description"]); continue
        print(json.dumps(t))
for m in new:
    if m["role"]=="system": print("SYSTEM:",m["content"]); continue
    if m["role"]=="assistant":
        continue
    print(m["role"].upper()+":",m["content"])
if ep.done: print("[the conversation is over]")
