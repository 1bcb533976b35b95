"""An MCP client that starts a server and runs an episode, with the environment's expert in place of an agent."""

import asyncio

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from trace_gym import Say, registry

server = StdioServerParameters(command="trace-gym", args=["serve-mcp", "tau2_precondition", "--seed", "7"])
expert = registry.start_episode("tau2_precondition/0/7").start.oracle()


async def main() -> None:
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        print("tools:", *[tool.name for tool in (await client.list_tools()).tools])
        brief = await client.call_tool("read_task", {})
        print(brief.content[0].text[-200:])
        for step in expert:
            name, arguments = (
                ("talk_to_user", {"text": step.text}) if isinstance(step, Say) else (step.tool, step.arguments)
            )
            answer = await client.call_tool(name, arguments)
            print(f"{name}: {answer.content[0].text[:200]}")
        over = await client.call_tool("end_conversation", {})
        print(over.content[0].text)


asyncio.run(main())
