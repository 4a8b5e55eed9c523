# PowerShell completion for handover. Made by: handover completions powershell
Register-ArgumentCompleter -Native -CommandName handover, agent-handover -ScriptBlock {
  param($word, $line, $cursor)
  $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  # Older versions drop an empty argument.
  if ($word -eq '') { $words += '--new-word' }
  handover __complete @words 2>$null | ForEach-Object {
    $value, $brief = $_ -split "`t", 2
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $brief)
  }
}
