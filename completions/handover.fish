# fish completion for handover. Made by: handover completions fish
function __handover_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l partial (commandline -ct)
  set -l found (handover __complete $words "$partial" 2>/dev/null)
  if set -q found[1]
    printf '%s\n' $found
  else
    __fish_complete_path "$partial"
  end
end
for name in handover agent-handover
  complete -c $name -f -a '(__handover_complete)'
end
