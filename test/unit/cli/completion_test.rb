# frozen_string_literal: true

require "open3"
require "test_helper"
require "bontebok/cli/cli"
require "bontebok/cli/completion"

# The scripts of `bontebok completion`, run in the shells.
class CompletionTest < Support::TestCase
  CASES = {
    %w[dep] => "deploy", %w[--max-workers-] => "",
    %w[--max-wor] => "--max-workers --max-worker-age --max-worker-memory",
    %w[deploy --w] => "--wait", %w[deploy --can] => "--canary", %w[stop --now --c] => "--control --config-file",
    %w[completion z] => "zsh", %w[config.ru --preloa] => "--preload"
  }.freeze

  CASES.each do |words, expected|
    define_method("test_bash_completes_#{words.join('_')}") { assert_equal expected, complete("bash", words) }
  end

  def test_zsh_completes_as_well
    skip "there is no zsh" unless system("zsh", "-fc", "true")

    assert_equal "--wait", complete("zsh", %w[deploy --w]).split.first # zsh itself leaves out what does not fit
  end

  def test_another_shell_is_refused
    error = assert_raises(Bontebok::UsageError) { Bontebok::Completion.script("fish") }
    assert_equal "bontebok completion wants bash or zsh", error.message
  end

  private

  # bashcompinit calls the function in the mode "emulate sh".
  def complete(shell, words)
    mode = "emulate sh" if shell == "zsh"
    script = "#{Bontebok::Completion.script(shell)}\n#{mode}\nCOMP_WORDS=(bontebok #{words.join(' ')})\n" \
             "COMP_CWORD=#{words.size}\n_bontebok\necho \"${COMPREPLY[@]}\"\n"
    output, status = Open3.capture2e(shell, *("-f" if shell == "zsh"), stdin_data: script)
    assert_predicate status, :success?, output
    output.chomp
  end
end
