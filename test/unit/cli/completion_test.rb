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
    %w[status --f] => "--format --follow", %w[top --c] => "--csv --control --config-file",
    %w[status --format p] => "puma", %w[completion z] => "zsh", %w[config.ru --preloa] => "--preload",
    ["deploy", *Array.new(9, "--wait"), "--sup"] => "--supersede --supervisor",
    %w[--log-level w] => "warn", %w[--log-level = w] => "warn", ["--log-level", "="] => "info warn error",
    %w[--config-style pu] => "puma", %w[-w 2 -E p] => "production", %w[--max-workers a] => "auto",
    %w[--threads -] => "",
    %w[--help dep] => "deploy deploy_surge", %w[--help al] => "all allow_underscore_headers"
  }.freeze

  CASES.each do |words, expected|
    define_method("test_bash_completes_#{words.join('_')}") { assert_equal expected, complete("bash", words) }
  end

  def test_bash_completes_after_bundle_exec
    { %w[exec bontebok dep] => "deploy", %w[exec bontebok -E tes] => "test", %w[exec other dep] => "",
      %w[exec tru] => "true", %w[ins] => "" }.each do |words, expected|
      found = complete("bash", words, program: "bundle")
      words == %w[exec tru] ? assert_includes(found.split, expected) : assert_equal(expected, found, words.inspect)
    end
  end

  def test_a_completion_of_bundle_is_kept
    script = "#{Bontebok::Completion.script("bash")}\ncomplete -p bundle"
    assert_equal "complete -F other bundle", bash("other() { :; }; complete -F other bundle\n#{script}")
    assert_equal "complete -o default -F _bontebok_bundle bundle", bash(script)
  end

  def test_zsh_completes_as_well
    skip "there is no zsh" unless system("zsh", "-fc", "true")

    assert_equal "--wait", complete("zsh", %w[deploy --w]).split.first # zsh itself leaves out what does not fit
  end

  # zsh does not split the word. So does bash if COMP_WORDBREAKS has no =.
  def test_the_value_after_an_equals_sign_in_the_same_word
    skip "there is no zsh" unless system("zsh", "-fc", "true")

    %w[bash zsh].each do |shell|
      { "--log-format=" => "--log-format=text --log-format=json", "--log-level=w" => "--log-level=warn",
        "--threads=-" => "", "--reuse-port=" => "" }.each do |word, expected|
        found = complete(shell, [word]).split.grep(/\A#{word}/)
        assert_equal expected.split, found, [shell, word].inspect
      end
    end
  end

  def test_another_shell_is_refused
    error = assert_raises(Bontebok::UsageError) { Bontebok::Completion.script("fish") }
    assert_equal "bontebok completion wants bash or zsh", error.message
  end

  private

  def bash(script) = Open3.capture2e("bash", "--norc", stdin_data: script).first.chomp

  # bashcompinit calls the function in the mode "emulate sh".
  def complete(shell, words, program: "bontebok")
    mode = "emulate sh" if shell == "zsh"
    function = program == "bontebok" ? "_bontebok" : "_bontebok_bundle"
    script = "#{Bontebok::Completion.script(shell)}\n#{mode}\nCOMP_WORDS=(#{program} #{words.join(' ')})\n" \
             "COMP_CWORD=#{words.size}\n#{function}\necho \"${COMPREPLY[@]}\"\n"
    output, status = Open3.capture2e(shell, *("-f" if shell == "zsh"), stdin_data: script)
    assert_predicate status, :success?, output
    output.chomp
  end
end
