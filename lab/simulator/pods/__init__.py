"""The simulator for real pods: a small agent in each, and one world that plays what all of them do together.

An agent is what the stand-ins of `start_fe.sh` and the like start. It tells the world which pod it is and what lies on
its volume, opens the ports that the world wants open, and passes bytes on to the world's own sockets.
"""
