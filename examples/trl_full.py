"""Two GRPO steps with TRL in full mode, on the CPU: whole conversations, user turns included."""

from peft import LoraConfig
from transformers import AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from trace_gym.adapters import trl
from trace_gym.lab import BASE

envs = ["tau2_precondition", "tau2_multi_step"]
trainer = GRPOTrainer(
    model=str(BASE),  # or "Qwen/Qwen3-4B-Instruct-2507"
    processing_class=AutoTokenizer.from_pretrained(BASE),
    train_dataset=trl.dataset(envs, n=8),
    peft_config=LoraConfig(r=8, target_modules="all-linear"),
    args=GRPOConfig(
        output_dir="runs/trl_full",
        max_steps=2,
        per_device_train_batch_size=8,
        num_generations=4,
        max_completion_length=512,  # a real model needs 4096 or more
        learning_rate=1e-3,
        logging_steps=1,
        report_to="none",
        save_strategy="no",
        use_cpu=True,  # these two for a machine without a GPU
        bf16=False,
    ),
    **trl.full(envs, turn_tokens=64),  # a real model needs 512 or more
)
trainer.train()
