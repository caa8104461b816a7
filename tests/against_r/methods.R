# The same statistics by R's own package 'stats'.
#
#   Rscript --vanilla methods.R inputs.tsv results.tsv
#
# Each line of the inputs names a method, the number of a data set, an argument and its numbers
# (separated by blanks, NA where missing). Each line of the results names a method, the number of
# the data set, a result and its numbers. Nothing outside base R is needed.

correct_table <- function(a) matrix(c(a$both, a$losses, a$wins, a$neither), 2)

mean_of <- function(test, estimate) {
  list(
    mean = estimate, se = test$stderr, df = test$parameter, statistic = test$statistic,
    p_value = test$p.value, low = test$conf.int[1], high = test$conf.int[2]
  )
}

# Responses by system and grade, one layer for each example.
layers <- function(grades, levels) {
  examples <- nrow(grades)
  systems <- ncol(grades)
  table(
    factor(rep(seq_len(systems), each = examples)),
    factor(as.vector(grades), levels = levels),
    factor(rep(seq_len(examples), systems))
  )
}

rows_of <- function(numbers, columns) matrix(numbers, ncol = columns, byrow = TRUE)

mean_squares <- function(model) anova(model)[["Mean Sq"]]

methods <- list(
  paired_t = function(a) {
    test <- t.test(a$candidate, a$baseline, paired = TRUE, conf.level = a$level)
    mean_of(test, test$estimate)
  },
  welch = function(a) {
    test <- t.test(a$candidate, a$baseline, conf.level = a$level)
    mean_of(test, test$estimate[1] - test$estimate[2])
  },
  wilcoxon_exact = function(a) {
    both <- wilcox.test(a$d, exact = TRUE)
    greater <- wilcox.test(a$d, exact = TRUE, alternative = "greater")
    list(statistic = both$statistic, p_value = both$p.value, p_greater = greater$p.value)
  },
  wilcoxon_normal = function(a) {
    test <- function(...) wilcox.test(a$d, exact = FALSE, correct = a$correct == 1, ...)
    both <- test()
    greater <- test(alternative = "greater")
    list(statistic = both$statistic, p_value = both$p.value, p_greater = greater$p.value)
  },
  hodges_lehmann_exact = function(a) {
    test <- wilcox.test(a$d, exact = TRUE, conf.int = TRUE, conf.level = a$level)
    list(estimate = test$estimate, low = test$conf.int[1], high = test$conf.int[2])
  },
  hodges_lehmann_normal = function(a) {
    test <- wilcox.test(
      a$d, exact = FALSE, conf.int = TRUE, conf.level = a$level, tol.root = 1e-12
    )
    exact <- wilcox.test(a$d, exact = TRUE, conf.int = TRUE, conf.level = a$level)
    list(estimate = exact$estimate, low = test$conf.int[1], high = test$conf.int[2])
  },
  cliffs_delta = function(a) {
    w <- wilcox.test(a$candidate, a$baseline, exact = FALSE)$statistic
    list(delta = 2 * w / (length(a$candidate) * length(a$baseline)) - 1)
  },
  mcnemar_score = function(a) {
    plain <- mcnemar.test(correct_table(a), correct = FALSE)
    corrected <- mcnemar.test(correct_table(a), correct = TRUE)
    list(
      statistic = plain$statistic, p_value = plain$p.value,
      corrected_statistic = corrected$statistic, corrected_p_value = corrected$p.value
    )
  },
  mcnemar_exact = function(a) {
    fewer <- min(a$wins, a$losses)
    n <- a$wins + a$losses
    middle <- dbinom(fewer, n, 0.5)
    mid <- if (a$wins == a$losses) 1 - middle / 2 else 2 * pbinom(fewer, n, 0.5) - middle
    list(p_value = binom.test(a$wins, n)$p.value, p_mid = mid)
  },
  proportion = function(a) {
    exact <- binom.test(a$x, a$n, conf.level = a$level)$conf.int
    score <- prop.test(a$x, a$n, conf.level = a$level, correct = FALSE)$conf.int
    tail <- (1 - a$level) / 2
    list(
      exact_low = exact[1], exact_high = exact[2], wilson_low = score[1], wilson_high = score[2],
      jeffreys_low = qbeta(tail, a$x + 0.5, a$n - a$x + 0.5),
      jeffreys_high = qbeta(1 - tail, a$x + 0.5, a$n - a$x + 0.5)
    )
  },
  two_proportions = function(a) {
    test <- prop.test(a$x, a$n, correct = FALSE)
    list(squared = test$statistic, p_value = test$p.value)
  },
  friedman = function(a) {
    scores <- rows_of(a$scores, a$systems)
    n <- nrow(scores)
    k <- ncol(scores)
    test <- friedman.test(scores)
    f <- (n - 1) * test$statistic / (n * (k - 1) - test$statistic)
    list(
      ranks = rowMeans(apply(-scores, 1, rank)),
      statistic = test$statistic, p_value = test$p.value, f_statistic = f,
      f_p_value = pf(f, k - 1, (k - 1) * (n - 1), lower.tail = FALSE)
    )
  },
  cochran_q = function(a) {
    test <- mantelhaen.test(layers(rows_of(a$passed, a$systems), 0:1))
    list(statistic = test$statistic, p_value = test$p.value)
  },
  marginal_homogeneity = function(a) {
    test <- mantelhaen.test(layers(cbind(a$baseline, a$candidate), seq_len(a$grades)))
    maxwell <- unname(test$statistic)
    bhapkar <- maxwell / (1 - maxwell / length(a$baseline))
    list(
      maxwell = maxwell, maxwell_p = test$p.value, bhapkar = bhapkar,
      bhapkar_p = pchisq(bhapkar, a$grades - 1, lower.tail = FALSE)
    )
  },
  bowker = function(a) {
    test <- mcnemar.test(rows_of(a$counts, a$grades))
    list(statistic = test$statistic, p_value = test$p.value)
  },
  equal_means = function(a) {
    test <- oneway.test(a$d ~ factor(a$group))
    list(
      statistic = test$statistic, df1 = test$parameter[1], df2 = test$parameter[2],
      p_value = test$p.value
    )
  },
  adjust = function(a) {
    names <- c("bonferroni", "holm", "hochberg", "hommel", "BH", "BY")
    sapply(names, function(name) p.adjust(a$p, name), simplify = FALSE)
  },
  combine_pvalues = function(a) {
    k <- length(a$p)
    list(
      fisher = pchisq(-2 * sum(log(a$p)), 2 * k, lower.tail = FALSE),
      stouffer = pnorm(sum(qnorm(a$p, lower.tail = FALSE)) / sqrt(k), lower.tail = FALSE)
    )
  },
  power_paired_t = function(a) {
    test <- power.t.test(
      n = a$n, delta = a$difference, sd = a$sd, sig.level = a$alpha, type = "paired"
    )
    list(power = test$power)
  },
  n_paired_t = function(a) {
    test <- power.t.test(
      power = a$power, delta = a$difference, sd = a$sd, sig.level = a$alpha, type = "paired",
      tol = 1e-11
    )
    list(n = test$n)
  },
  mde = function(a) {
    test <- power.t.test(
      power = a$power, n = a$n, sd = a$sd, sig.level = a$alpha, type = "paired", tol = 1e-13
    )
    list(mde = test$delta)
  },
  nemenyi_difference = function(a) {
    spread <- sqrt(a$systems * (a$systems + 1) / (6 * a$tasks))
    list(
      level = ptukey(a$ours / spread * sqrt(2), a$systems, Inf, lower.tail = FALSE),
      difference = qtukey(1 - a$alpha, a$systems, Inf) / sqrt(2) * spread
    )
  },
  bradley_terry = function(a) {
    wins <- rows_of(a$wins, a$systems)
    pairs <- t(combn(a$systems, 2))
    design <- matrix(0, nrow(pairs), a$systems)
    design[cbind(seq_len(nrow(pairs)), pairs[, 1])] <- 1
    design[cbind(seq_len(nrow(pairs)), pairs[, 2])] <- -1
    fit <- glm(
      cbind(wins[pairs], wins[pairs[, 2:1, drop = FALSE]]) ~ design[, -1] - 1, family = binomial,
      control = glm.control(epsilon = 1e-15, maxit = 100)
    )
    list(ability = coef(fit), se = sqrt(diag(vcov(fit))))
  },
  anova_icc = function(a) {
    squares <- mean_squares(lm(a$d ~ factor(a$cluster)))
    list(between = squares[1], within = squares[2])
  },
  intraclass_correlations = function(a) {
    ratings <- rows_of(a$ratings, a$judges)
    n <- nrow(ratings)
    k <- ncol(ratings)
    item <- factor(rep(seq_len(n), k))
    judge <- factor(rep(seq_len(k), each = n))
    one <- mean_squares(lm(as.vector(ratings) ~ item))
    two <- mean_squares(lm(as.vector(ratings) ~ item + judge))
    list(
      icc1 = (one[1] - one[2]) / (one[1] + (k - 1) * one[2]),
      icc2 = (two[1] - two[3]) / (two[1] + (k - 1) * two[3] + k * (two[2] - two[3]) / n),
      icc3 = (two[1] - two[3]) / (two[1] + (k - 1) * two[3]),
      icc3k = 1 - two[3] / two[1]
    )
  }
)

answer <- function(method, arguments) {
  # R warns of small samples and ties; that is no news here.
  results <- tryCatch(
    suppressWarnings(methods[[method]](arguments)),
    error = function(e) list(error = conditionMessage(e))
  )
  vapply(results, function(x) paste(format(x), collapse = " "), "")
}

format <- function(x) if (is.character(x)) gsub("\\s", "_", x) else sprintf("%.17g", unname(x))

files <- commandArgs(trailingOnly = TRUE)
inputs <- read.delim(files[1], colClasses = "character", na.strings = character(0))
numbers <- lapply(strsplit(inputs$numbers, " ", fixed = TRUE), as.numeric)
data_sets <- split(seq_len(nrow(inputs)), paste(inputs$method, inputs$case))
lines <- lapply(data_sets, function(rows) {
  first <- rows[1]
  results <- answer(inputs$method[first], setNames(numbers[rows], inputs$name[rows]))
  paste(inputs$method[first], inputs$case[first], names(results), results, sep = "\t")
})
writeLines(c("method\tcase\tname\tnumbers", unlist(lines)), files[2])
