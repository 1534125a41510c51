# frozen_string_literal: true

require "test_helper"
require "open3"

# A library has prepended a module to Kernel, Process or IO before the server replaces their methods. Each case is a
# process of its own, because the methods stay replaced.
class ReplacedMethodsTest < Minitest::Test
  FENCE = 'require "bontebok/system/replaced/loading_fence"; Bontebok::LoadingFence.guard { }'
  LIMITS = 'require "bontebok/system/replaced/command_limits"; ' \
           "Bontebok::CommandLimits.install(100, Process.getrlimit(:NOFILE).first)"
  CASES = { "Process.exec('exit 7')" => ["Process.singleton_class", FENCE, 7],
            "exec('exit 7')" => ["Kernel", FENCE, 7],
            "exit!(7)" => ["Kernel", FENCE, 7],
            "system('true') || exit(7)" => ["Kernel", LIMITS, 0],
            "Process.wait(Process.spawn('true'))" => ["Process.singleton_class", LIMITS, 0],
            "IO.popen('true', &:read)" => ["IO.singleton_class", LIMITS, 0] }.freeze

  def test_a_module_that_was_prepended_before
    CASES.each do |call, (owner, replaces, status)|
      name = call[/(?:\A|Process\.|IO\.)(\w+!?)\((?!Process)/, 1]
      code = "#{owner}.prepend(Module.new { def #{name}(*, **, &) = super }); #{replaces}; #{call}"
      output, ended = Open3.capture2e(RbConfig.ruby, "-w", "-Ilib", "-e", code)
      assert_equal ["", status], [output, ended.exitstatus], code
    end
  end
end
