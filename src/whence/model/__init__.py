"""What the paper defines: worlds, machines, demonstrations, experts, the prior."""
