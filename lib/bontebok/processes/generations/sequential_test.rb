# frozen_string_literal: true

module Bontebok
  class Canary
    # Asks after any number of requests whether the share of errors of the new workers is above that of the former ones
    # plus a margin. However often it is asked, the answer is wrong with a probability of at most ERROR. See
    # docs/decisions/0023-the-canary-is-judged-all-the-time.md.
    #
    # Each pair of true shares has an evidence against it: a likelihood ratio, which exceeds 1 / ERROR at any time only
    # with the probability ERROR if the pair is the true one. The answer is yes if the evidence exceeds this bound for
    # all pairs in which the new workers are not worse. The least evidence has a pair whose difference is the margin.
    module SequentialTest
      ERROR = 0.01
      BOUND = -Math.log(ERROR)
      # The bisection for the least evidence.
      STEPS = 40
      private_constant :BOUND, :STEPS

      class << self
        # fresh, former: the Groups. margin: 0.01 is 1 %.
        def worse?(fresh, former, margin)
          return false unless fresh.share > former.share + margin

          share = least_likely(fresh, former, margin)
          evidence(fresh, share + margin) + evidence(former, share) > BOUND
        end

        private

        # The true share of the former workers for which the evidence is least. The evidence is convex, and its slope is
        # 0 there.
        def least_likely(fresh, former, margin)
          low = former.share
          high = fresh.share - margin
          STEPS.times do
            middle = (low + high) / 2
            falls = (slope(fresh, middle + margin) + slope(former, middle)).negative?
            falls ? low = middle : high = middle
          end
          (low + high) / 2 # not an end, because its logarithm may be that of 0
        end

        # The logarithm of the likelihood ratio. Its numerator is the mean likelihood over all shares, with the weights
        # of the beta distribution (1/2, 1/2). Its denominator is the likelihood of this share.
        def evidence(group, share)
          bad = group.errors
          good = group.requests - bad
          log_beta(bad + 0.5, good + 0.5) - Math.log(Math::PI) - (bad * Math.log(share)) - (good * Math.log(1 - share))
        end

        def slope(group, share)
          ((group.requests - group.errors) / (1 - share)) - (group.errors / share)
        end

        def log_beta(one, other)
          Math.lgamma(one).first + Math.lgamma(other).first - Math.lgamma(one + other).first
        end
      end
    end
  end
end
